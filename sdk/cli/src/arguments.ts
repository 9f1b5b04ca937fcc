import { InvalidArgumentError } from 'commander';
import { originOf } from './settings.js';

/** What options and arguments have to look like. */

export const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It has to be a whole number above 0.');
  return parseInt(text, 10);
};

export const seq = (text: string): string => {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('It has to be the seq of an event.');
  return text;
};

/** The address of an API. */
export const apiAddress = (text: string): string => {
  try {
    return originOf(text);
  } catch {
    throw new InvalidArgumentError('It has to be the address of an API, such as https://payments.example.com.');
  }
};

/** A price in fiat. The API takes a JSON number of at most 15 digits, which is exact as it was written. */
export const price = (text: string): number => {
  if (!/^\d{1,12}(\.\d{1,3})?$/.test(text)) throw new InvalidArgumentError('It has to be a price such as 25 or 9.99.');
  return parseFloat(text);
};

export const json = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidArgumentError('It has to be JSON.');
  }
};
