<?php
/** Whether the body, as it came, was signed with the secret in the last five minutes. */
function verify(string $body, string $id, string $timestamp, string $signatures, string $secret): bool
{
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
    if ($key === false || strlen($key) < 24) {
        throw new InvalidArgumentException('WEBHOOK_SECRET is missing, or no secret');
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $signatures) as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

$body = file_get_contents('php://stdin');
$isOurs = verify(
    $body,
    getenv('WEBHOOK_ID'),
    getenv('WEBHOOK_TIMESTAMP'),
    getenv('WEBHOOK_SIGNATURE'),
    (string) getenv('WEBHOOK_SECRET'),
);
if (!$isOurs) {
    fwrite(STDERR, "Too old, or no signature fits\n");
    exit(1);
}
echo $body, "\n";
