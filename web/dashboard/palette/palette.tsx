import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useState, type KeyboardEvent } from 'react';
import { holds } from '../../../domain/access/access';
import type { Me } from '../api/queries';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { useCommands, type Command } from './commands';
import own from './palette.module.css';
import { isOperator } from '../operators/pages';
import { useOperatorTexts } from '../operators/texts/use';
import { usePaletteTexts } from './texts/use';

const most = 12;

/** Every page and action by its name, and payments by what they are searched for; the keyboard alone serves. */
export function Palette({ me, onClose }: Readonly<{ me: Me; onClose: () => void }>) {
  const words = usePaletteTexts();
  const { find } = useOperatorTexts();
  const navigate = useNavigate();
  const id = useId();
  const commands = useCommands(me);
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const text = typed.trim();
  const fitting: Command[] = commands.filter(({ name }) => isIn(text, name)).slice(0, most);
  if (text && me.merchantId !== null && holds(me, 'payments:view'))
    fitting.push({ id: 'search', to: '/payments', name: words.search(text), search: { search: text } });
  if (text && isOperator(me))
    fitting.push({ id: 'find', to: '/operators/find', name: `${find.label}: ${text}`, search: { q: text } });
  const current = Math.min(chosen, fitting.length - 1);
  useEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, current]);
  const go = ({ to, search, creates }: Command): void => {
    onClose();
    void navigate({ to, search: search ?? {}, state: creates ? { creates: true } : {} });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && fitting.length) {
      event.preventDefault();
      setChosen((current + step + fitting.length) % fitting.length);
    }
    if (event.key === 'Enter' && fitting[current]) {
      event.preventDefault();
      go(fitting[current]);
    }
  };
  return (
    <Dialog title={words.title} onClose={onClose}>
      <input
        className={css.input}
        role="combobox"
        aria-label={words.label}
        aria-expanded={fitting.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={fitting.length ? `${id}-${current}` : undefined}
        placeholder={words.label}
        maxLength={200}
        autoComplete="off"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id={id} role="listbox" aria-label={words.list} className={own.list}>
        {fitting.map((command, index) => (
          <li
            key={command.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            className={own.option}
            onClick={() => go(command)}
          >
            {command.name}
          </li>
        ))}
      </ul>
      {!fitting.length && <p className={css.soft}>{words.none}</p>}
    </Dialog>
  );
}

/** Every word that was typed is somewhere in the name. */
const isIn = (text: string, name: string): boolean =>
  text
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => name.toLocaleLowerCase().includes(word));
