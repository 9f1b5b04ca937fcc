import { Link } from '@tanstack/react-router';

/** A merchant's name, which leads to its page; its id where the name is gone. */
export function MerchantLink({ id, name }: Readonly<{ id: string; name: string | null }>) {
  return (
    <Link to="/operators/merchants/$merchantId" params={{ merchantId: id }}>
      {name ?? id}
    </Link>
  );
}
