/** What a donor said of themselves stands apart from payments and events, which are kept: it is put in where they are
 *  read. A payment that repeats another has its donor. */

/** `metadata` of a payment `p`, as text. */
export const metadataColumn = `coalesce(p.metadata::text, (SELECT '{"donor":' || d.donor::text || '}'
    FROM payment_donor d WHERE d.payment_id = coalesce(p.parent_payment_id, p.id))) AS metadata`;

/** `data` of an event `e`, as text. A payment with a donor has no other metadata. */
export const eventDataColumn = `coalesce(left(e.data::text, -1) || ',"metadata":{"donor":' || (SELECT d.donor::text
    FROM payment q JOIN payment_donor d ON d.payment_id = coalesce(q.parent_payment_id, q.id)
   WHERE q.id = e.entity_id) || '}}', e.data::text) AS data`;
