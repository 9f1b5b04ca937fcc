<?php
$order = getenv('ORDER_ID');
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => [
        'Authorization: Bearer ' . getenv('API_KEY'),
        'Content-Type: application/json',
        'Idempotency-Key: ' . $order,
    ],
    'content' => json_encode(['amount' => 25, 'currency' => 'BTC', 'merchantOrderId' => $order]),
    'timeout' => 30,
]]);
$payment = file_get_contents(getenv('API_URL') . '/api/v1/payments', false, $context);
if ($payment === false) {
    fwrite(STDERR, "The payment was not created\n");
    exit(1);
}
echo $payment, "\n";
