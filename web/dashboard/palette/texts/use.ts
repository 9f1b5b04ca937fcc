import { useTextsOf } from '../../texts/texts';
import { de } from './de';
import { en } from './en';

/** The words of the command palette, in the language of its reader. */
export const usePaletteTexts = () => useTextsOf({ en, de });
