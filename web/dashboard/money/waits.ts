import { waitCauses, waitMessages } from '../../../domain/txmanager/waits';
import { useSentence } from '../texts/texts';
import { useMoneyTexts } from './section';

/** What the API says of a wait, in the language of its reader; anything else as it is. */
export function useWaits(): (message: string) => string {
  const { waits } = useMoneyTexts();
  const sentence = useSentence();
  return (message) => {
    const cause = waitCauses.find((one) => waitMessages[one] === message);
    return cause ? waits[cause] : sentence(message);
  };
}
