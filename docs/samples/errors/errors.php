<?php
/** Status, code, message and request id of a refusal; null if it was no refusal. */
function refusalOf(string $path): ?array
{
    $context = stream_context_create(['http' => [
        'header' => ['Authorization: Bearer ' . getenv('API_KEY')],
        'ignore_errors' => true, // gives the body of a refusal too
        'timeout' => 30,
    ]]);
    $answer = file_get_contents(getenv('API_URL') . $path, false, $context);
    $status = (int) explode(' ', $http_response_header[0] ?? '- 0')[1];
    if ($answer === false || $status < 400) {
        return null;
    }
    $body = json_decode($answer, true);
    [$code, $message] = match (true) {
        is_array($body['error']) => [$body['error']['code'], $body['error']['message']], // form A
        isset($body['message']) => [$body['error'], $body['message']], // flat
        default => [null, $body['error']], // form B has no code: the status decides
    };
    $ids = preg_grep('/^x-request-id:/i', $http_response_header);
    $requestId = trim(substr(reset($ids), strlen('x-request-id:')));
    return ['status' => $status, 'code' => $code, 'message' => $message, 'requestId' => $requestId];
}

$refusal = refusalOf('/api/v1/payments/ffffffffffffffffffffffff');
if ($refusal && $refusal['status'] === 404) {
    echo $refusal['message'], $refusal['requestId'] ? " true\n" : " false\n";
}
$refusal = refusalOf('/api/v1/conversions/quote?fromCurrency=BTC&toCurrency=BTC&fromAmount=1');
if ($refusal && $refusal['code'] === 'SAME_CURRENCY') {
    echo "{$refusal['code']} {$refusal['status']}\n";
}
