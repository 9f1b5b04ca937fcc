/** The ticker of bitcoin by Lightning, for those who need the registry of assets for nothing else. */
export const lightningCurrency = 'BTC_LN';
/** Whether it is paid by an invoice, and not to an address of a chain. */
export const isByLightning = (currency: string): boolean => currency === lightningCurrency;
