/** SQL: true where an address of a network is ours, null where it is not. Each look is one at the index: written as
 *  NOT EXISTS in a query that runs once for each row, PostgreSQL reads all addresses for each of them. */
export const isOurs = (network: string, address: string): string =>
  `(SELECT true FROM address own WHERE own.network = ${network} AND own.address = ${address} LIMIT 1)`;
