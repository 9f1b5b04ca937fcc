<?php
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => ['Authorization: Bearer ' . getenv('API_KEY'), 'Content-Type: application/json'],
    'content' => json_encode(['scenario' => 'paid']),
    'timeout' => 30,
]]);
$url = getenv('API_URL') . '/api/v1/test/payments/' . getenv('PAYMENT_ID') . '/simulate';
$answer = file_get_contents($url, false, $context);
if ($answer === false) {
    exit(1); // PHP has said why
}
echo $answer, "\n";
