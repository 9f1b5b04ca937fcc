/** The API's own rule for passwords, told before a form is sent. */
export const isStrong = (password: string): boolean =>
  password.length >= 8 && [/\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u, /[^\p{L}\p{Nd}\s]/u].every((kind) => kind.test(password));
