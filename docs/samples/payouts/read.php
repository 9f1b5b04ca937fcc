<?php
/** Every row of a list, page by page. */
function all(string $path): iterable
{
    $context = stream_context_create(['http' => [
        'header' => ['Authorization: Bearer ' . getenv('API_KEY')],
        'timeout' => 30,
    ]]);
    for ($page = 1; ; $page += 1) {
        $answer = file_get_contents(getenv('API_URL') . "/api/v1/$path?page=$page&limit=100", false, $context);
        if ($answer === false) {
            exit(1); // PHP has said why
        }
        ['items' => $items, 'total' => $total] = json_decode($answer, true)['data'];
        foreach ($items as $item) {
            yield $item;
        }
        if (!$items || $page * 100 >= $total) {
            return;
        }
    }
}

foreach (all('withdrawals') as $one) {
    echo "withdrawal {$one['_id']} {$one['status']} {$one['amount']} {$one['currency']} ", $one['txId'] ?? '', "\n";
}
foreach (all('mass-payouts') as $batch) {
    echo "mass payout {$batch['_id']} {$batch['status']} ", $batch['label'] ?? '', "\n";
    foreach (all("mass-payouts/{$batch['_id']}/legs") as $leg) {
        echo "  row {$leg['rowIndex']} {$leg['status']} {$leg['amount']} {$leg['currency']} {$leg['address']}\n";
    }
}
