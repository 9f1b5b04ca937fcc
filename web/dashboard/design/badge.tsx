import css from './design.module.css';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'plain';

/** A status in words: colour only adds to them. */
export function Badge({ tone, text }: Readonly<{ tone: Tone; text: string }>) {
  return <span className={`${css.badge} ${tone === 'plain' ? '' : css[tone]}`}>{text}</span>;
}
