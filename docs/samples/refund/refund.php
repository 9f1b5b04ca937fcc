<?php
/** The body of the answer; ends the program where it is a refusal. */
function post(string $url, array $body, array $headers = []): string
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => ['Authorization: Bearer ' . getenv('API_KEY'), 'Content-Type: application/json', ...$headers],
        'content' => json_encode($body),
        'timeout' => 30,
    ]]);
    $answer = file_get_contents($url, false, $context);
    if ($answer === false) {
        fwrite(STDERR, "The refund was refused\n");
        exit(1);
    }
    return $answer;
}

$refunds = getenv('API_URL') . '/api/v1/payments/' . getenv('PAYMENT_ID') . '/refunds';
$reference = getenv('REFUND_REFERENCE');
// What would it take and cost? Nothing happens yet.
echo post("$refunds/preview", ['type' => 'full']), "\n";
// Without an address the refund has `claimUrl`: send this link to the payer, who names the address there.
echo post($refunds, ['type' => 'full', 'reference' => $reference], ["Idempotency-Key: $reference"]), "\n";
