/** Characters that turn around what stands beside them: embeddings, overrides and isolates of Unicode's bidirectional
 *  algorithm (UAX 9). In a name they can make another address, or another file, of what is read beside it. */
const turning = /[\u202a-\u202e\u2066-\u2069]/g;

/** The text with a sign in place of each of them: for names among words of ours. */
export const unturned = (text: string): string => text.replaceAll(turning, '\ufffd');
