<?php
/** Status and body of an answer. */
function call(string $method, string $path, ?string $body = null): array
{
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => ['Authorization: Bearer ' . getenv('API_KEY'), 'Content-Type: application/json'],
        'content' => $body,
        'ignore_errors' => true, // gives the body of a refusal too
        'timeout' => 30,
    ]]);
    $answer = file_get_contents(getenv('API_URL') . $path, false, $context);
    return [(int) explode(' ', $http_response_header[0] ?? '- 0')[1], $answer];
}

function refused(string $answer): never
{
    fwrite(STDERR, "$answer\n"); // RATE_DRIFT has `newQuote`: show it to the user, and ask again
    exit(1);
}

$pair = ['fromCurrency' => getenv('FROM'), 'toCurrency' => getenv('TO')];
$query = http_build_query($pair + ['fromAmount' => getenv('AMOUNT')]);
[$status, $answer] = call('GET', "/api/v1/conversions/quote?$query");
if ($status !== 200) {
    refused($answer);
}
$quote = json_decode($answer, true);
// The figures that the user has accepted: with worse ones nothing is executed.
[$status, $answer] = call('POST', '/api/v1/conversions', json_encode($pair + [
    'fromAmount' => $quote['fromAmountStr'],
    'quotedRate' => $quote['exchangeRate'],
    'quotedToAmount' => $quote['toAmountStr'],
    'idempotencyKey' => getenv('CONVERSION_REFERENCE'),
]));
if ($status !== 201) {
    refused($answer);
}
echo $answer, "\n";
