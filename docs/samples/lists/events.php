<?php
$context = stream_context_create(['http' => [
    'header' => ['Authorization: Bearer ' . getenv('API_KEY')],
    'timeout' => 30,
]]);
$after = '0'; // keep it: the next time, go on from here

do {
    $answer = file_get_contents(getenv('API_URL') . "/api/v1/events?after=$after&limit=100", false, $context);
    if ($answer === false) {
        exit(1); // PHP has said why
    }
    $events = json_decode($answer, true)['data'];
    foreach ($events['items'] as $event) {
        echo $event['seq'], ' ', $event['type'], "\n";
    }
    $after = $events['nextCursor'];
} while ($events['hasMore']);
