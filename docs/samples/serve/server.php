<?php
// Takes webhooks at any address: php -S 127.0.0.1:4000 server.php
// A shop keeps what is in `webhooks.json` in its database, and changes it in one transaction.
const PAID = ['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'];

/** Whether the body, as it came, was signed with the secret in the last five minutes. */
function isOurs(string $body, string $secret): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
    if ($key === false || strlen($key) < 24) {
        throw new InvalidArgumentException('WEBHOOK_SECRET is missing, or no secret');
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

function take(array $event, array &$kept): void
{
    if (isset($kept['seen'][$event['id']])) {
        return; // a repeat
    }
    $kept['seen'][$event['id']] = true;
    if (!str_starts_with($event['type'], 'payment.')) {
        return;
    }
    ['_id' => $id, 'stateVersion' => $version, 'status' => $status] = $event['data'];
    if ($version < ($kept['newest'][$id] ?? 0)) {
        return; // overtaken by a later change
    }
    $kept['newest'][$id] = $version;
    if (isset($event['data']['parentPaymentId'])) {
        return; // a late or second deposit, of any amount: it pays no order by itself
    }
    $order = $event['data']['merchantOrderId'] ?? '';
    error_log("$order is $status");
    if (in_array($status, PAID, true) && !isset($kept['delivered'][$order])) {
        $kept['delivered'][$order] = true;
        error_log("paid $order");
    }
}

$body = file_get_contents('php://input');
if (!isOurs($body, (string) getenv('WEBHOOK_SECRET'))) {
    error_log('Too old, or no signature fits');
    http_response_code(400);
    exit;
}
$file = fopen(__DIR__ . '/webhooks.json', 'c+');
flock($file, LOCK_EX);
$kept = json_decode(stream_get_contents($file), true) ?? [];
take(json_decode($body, true), $kept);
rewind($file);
ftruncate($file, 0);
fwrite($file, json_encode($kept));
fclose($file);
http_response_code(204);
