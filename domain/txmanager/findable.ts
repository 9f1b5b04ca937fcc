/** By how many transactions a workflow is found in Temporal: a value of a search attribute has 2,048 bytes there, and
 *  the hash of a transaction up to 66, with its quotes and a comma 69. `operator find` finds all of them. */
export const findableTxIds = 25;
