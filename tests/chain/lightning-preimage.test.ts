import { newPreimage, preimageKeysIn, preimageOf } from '../../chains/lightning/preimage';

/** Preimages of our invoices follow from a key and an id. The expected bytes are OpenSSL's. */

const id = '0123456789abcdef01234567';
const [first, second] = ['11'.repeat(32), '22'.repeat(32)];
const made = {
  preimage: '29e4302b78877280250b4b0a97b7f730d961b92fc395e2df35e670ae80e8f8c5',
  hash: '185155163f4b6d1d711fd0be7e451ac2638690952ed688005e83078472aafe1d',
};

it('makes the preimage of an id from the first key', () => {
  expect(newPreimage([first], id)).toEqual(made);
  expect(newPreimage([first, second], id)).toEqual(made);
  expect(newPreimage([second, first], id)).not.toEqual(made);
  expect(newPreimage([first], '0123456789abcdef01234568')).not.toEqual(made);
});

it('finds the preimage of a hash that an earlier key has made, and of no other', () => {
  expect(preimageOf([second, first], id, made.hash)).toEqual(made);
  expect(() => preimageOf([second], id, made.hash)).toThrow(`No key of ours made the hash of Lightning invoice ${id}`);
});

it('reads keys of 32 bytes, the newest first', () => {
  expect(preimageKeysIn(`${second}, ${first}`)).toEqual([second, first]);
  for (const wrong of ['', 'secret', first.slice(2), `${first},`, first.replace('1', 'G')])
    expect(() => preimageKeysIn(wrong)).toThrow('32 bytes');
});
