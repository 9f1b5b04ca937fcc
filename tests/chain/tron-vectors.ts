/** Keys, addresses and transactions of TRON from outside this project. */

/** The first phrase of BIP 39's own test vectors. */
export const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';

/** By tronweb 6.5.1, `TronWeb.fromMnemonic(phrase, path).address`. */
export const derived = [
  { role: 'deposit', index: 0, address: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH' },
  { role: 'deposit', index: 1, address: 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK' },
  { role: 'treasury', index: 7, address: 'TYXrXBAVWRJPHFK49Mx74LvvjpbKjTGeL5' },
] as const;

/** Tether's contract on the main network, and two accounts as the documentation of java-tron spells them both ways
 *  (wallet/getsignweight). */
export const spellings = [
  { base58: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', hex: '41a614f803b6fd780986a42c78ec9c7f77e6ded13c' },
  { base58: 'TRGhNNfnmgLegT4zHNjEqDSADjgmnHvubJ', hex: '41a7d8a35b260395c14aa456297662092ba3b76fc0' },
  { base58: 'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW', hex: '415a523b449890854c8fc460ab602df9f31fe4293f' },
] as const;
export const usdt = spellings[0].base58;
export const payee = 'TVDGpn4hCSzJ5nkHPLetk8KQBtwaTppnkr';

/** By tronweb 6.5.1, with a block header that is given, signed with the key of `derived[1]`. The id of the block is
 *  made to have these bytes of reference. */
export const reference = `0000000003e83b14f31c0a6ae1f0a9dd${'00'.repeat(16)}`;
export const times = { timestamp: 1_764_201_600_000, expiresAt: 1_764_201_660_000 } as const;
export const signed = {
  trx: {
    units: 1_234_567n,
    feeLimit: 0n,
    txId: '0b3880d4382fe36f9165aaf7af0b354f754cdcea3b5113073f5cee9473f63a0e',
    rawData:
      '0a023b142208f31c0a6ae1f0a9dd40e0fcf394ac335a67080112630a2d747970652e676f6f676c65617069732e636f6d2f70726f746f63' +
      '6f6c2e5472616e73666572436f6e747261637412320a1541b6e708a39781c96bd399c7657780ff9fe9f052a8121541d3136787e667d1e0' +
      '55d2cd5db4b5f6c8805630491887ad4b7080a8f094ac33',
    signature:
      '07fc6d8e4ad1d4ac5cd0ace2c5068eefc015d7d9c0948dcfb85abf1454cde1d565fa32eff200dd7093aa8c47660d26d5ec9b414ef6d605' +
      '330971a9e3c9f7c3581c',
  },
  token: {
    units: 25_000_000n,
    feeLimit: 30_000_000n,
    txId: '1c3ab0aebeac9719baa04a97643bd5536d4f74ef3ec17e930f3a70c430d0aad0',
    rawData:
      '0a023b142208f31c0a6ae1f0a9dd40e0fcf394ac335aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f74' +
      '6f636f6c2e54726967676572536d617274436f6e747261637412740a1541b6e708a39781c96bd399c7657780ff9fe9f052a8121541a614' +
      'f803b6fd780986a42c78ec9c7f77e6ded13c2244a9059cbb000000000000000000000000d3136787e667d1e055d2cd5db4b5f6c8805630' +
      '4900000000000000000000000000000000000000000000000000000000017d78407080a8f094ac3390018087a70e',
    signature:
      '4eca163f7e854c20cac3b3d083f9f4603ccf25f3af732ea879cb4961cec0816a339d144b38dca8ebbad00f9c19334a737a75e7956c9b8b' +
      '235a311ce7fe5d210a1c',
  },
} as const;

/** Of a TRX transfer: documentation of java-tron (wallet/getsignweight). */
export const documented = {
  txId: '0ae84a8439f5aa8fd2c458879a4031a7452aebed8e6e99ffbccd26842d4323c4',
  rawData:
    '0a02163d220877ef4ace148b05ba40d8c5e5a6a32d5a69080112630a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f' +
    '6c2e5472616e73666572436f6e747261637412320a1541a7d8a35b260395c14aa456297662092ba3b76fc01215415a523b449890854c8fc4' +
    '60ab602df9f31fe4293f18c0843d2802709af4e1a6a32d',
} as const;

/** On the main network: a transfer of USDT whose wallet wrote 41 before the 20 bytes of the recipient. */
export const mined = {
  txId: '72be8976354fa98c3e753aad8ee2753d0e7c9a5bc99c45a08a79c19160b5d0cd',
  owner: '418d01cf0c9bfd935042c62cdf3a5392cc0611e79f',
  rawData:
    '0a0212ff2208b9534eaebfeb259e40e0ddd9bbfb335aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f' +
    '636f6c2e54726967676572536d617274436f6e747261637412740a15418d01cf0c9bfd935042c62cdf3a5392cc0611e79f121541a614f803' +
    'b6fd780986a42c78ec9c7f77e6ded13c2244a9059cbb0000000000000000000000413f46c7ade0f6b73b8fc1b4a143855394c405762e0000' +
    '000000000000000000000000000000000000000000000000000002625a0070dd9fd6bbfb3390018087a70e',
  signature:
    'ed2c219265757131bd18a8349a9a2d151c8b00bf897479197b0bcebd688fe1fb1657600e312b8a3383168d4f4b8abe20ecf55ab632f3636c' +
    'dbd03204eb2f986c00',
} as const;

/** The first of `signed`, whole. */
export const signedTransfer = {
  txId: signed.trx.txId,
  raw: `0a8501${signed.trx.rawData}1241${signed.trx.signature}`,
} as const;
