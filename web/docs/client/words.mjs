/** The words of a text: names such as INVALID_ID as a whole, and by their parts. */
const wordsIn = (text) =>
  text
    .split(/[^\p{L}\p{N}_]+/u)
    .filter(Boolean)
    .flatMap((word) => (word.includes('_') ? [word, ...word.split('_').filter(Boolean)] : [word]));

/** The words of what somebody looks for: names as a whole alone. */
const wordsAsked = (text) => text.split(/[^\p{L}\p{N}_]+/u).filter(Boolean);

/** How the index is made and read: guides come before rows of errors and operations of the reference. */
export const indexOptions = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'url', 'about'],
  tokenize: wordsIn,
  searchOptions: {
    tokenize: wordsAsked,
    prefix: true,
    fuzzy: 0.15,
    boost: { title: 4, page: 2 },
    boostDocument: (_id, _term, { url }) => (/^(api\/|errors\/#)/.test(url) ? 1 : 4),
  },
};
