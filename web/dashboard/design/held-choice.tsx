import { useTexts } from '../texts/texts';
import { Choice } from './field';

/** Shows of a list of outgoing money only what is held before it is signed. */
export function HeldChoice(props: Readonly<{ isHeld: boolean; onChange: (held: true | undefined) => void }>) {
  const { isHeld, onChange } = props;
  const t = useTexts();
  return (
    <Choice<'' | 'held'>
      label={t.held.label}
      hint={t.held.hint}
      value={isHeld ? 'held' : ''}
      options={[
        ['', t.payments.any],
        ['held', t.held.only],
      ]}
      onChange={(value) => onChange(value === 'held' || undefined)}
    />
  );
}
