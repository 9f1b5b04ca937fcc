/** SECRETS_KEY holds one key, or several by commas while it is changed: the first one writes, all of them read. */
export const keysIn = (secretsKey: string): readonly [string, ...string[]] => {
  const [first = '', ...earlier] = secretsKey.split(',').map((one) => one.trim());
  return [first, ...earlier];
};
