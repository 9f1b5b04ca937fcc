import { useTextsOf } from '../../texts/texts';
import { de } from './de';
import { en } from './en';

/** The words of this section, in the language of its reader. */
export const useSettingTexts = () => useTextsOf({ en, de });
