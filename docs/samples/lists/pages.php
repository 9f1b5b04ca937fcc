<?php
$context = stream_context_create(['http' => [
    'header' => ['Authorization: Bearer ' . getenv('API_KEY')],
    'timeout' => 30,
]]);
$seen = [];

for ($page = 1; ; $page += 1) {
    $answer = file_get_contents(getenv('API_URL') . "/api/v1/payments?page=$page&limit=100", false, $context);
    if ($answer === false) {
        exit(1); // PHP has said why
    }
    ['items' => $items, 'total' => $total] = json_decode($answer, true);
    foreach ($items as $payment) {
        $seen[$payment['_id']] = true; // a new payment moves others to the next page
    }
    if (!$items || $page * 100 >= $total) {
        break;
    }
}
echo count($seen), " payments\n";
