import { RowLink } from '../design/row-link';
/** A merchant's name, which leads to its page; its id where the name is gone. */
export function MerchantLink({ id, name }: Readonly<{ id: string; name: string | null }>) {
  return (
    <RowLink to="/operators/merchants" id={id}>
      {name ?? id}
    </RowLink>
  );
}
