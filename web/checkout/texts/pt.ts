import type { Texts } from './en';

/** Portuguese. */
export const pt: Texts = {
  language: 'pt',
  locale: 'pt',
  direction: 'ltr',
  name: 'Português',
  languages: 'Língua',
  titles: {
    AWAITING_CURRENCY: 'Escolha como pagar',
    WAITING: 'À espera do seu pagamento',
    PARTIALLY_PAID: 'Uma parte do valor chegou',
    CROSS_CHAIN_PENDING: 'Chegou outra moeda',
    CONFIRMING: 'Pagamento recebido, em confirmação',
    CONFIRMED: 'Pagamento confirmado',
    SWEEP_QUEUED: 'Pagamento confirmado',
    SETTLED: 'Pagamento concluído',
    EXPIRED: 'Esta fatura expirou',
    CANCELLED: 'Esta fatura foi cancelada',
    FAILED: 'Este pagamento não foi concluído',
  },
  seen: {
    title: 'Vimos o seu pagamento',
    otherTitle: 'Outra moeda está a caminho',
    whole: 'Não precisa de fazer nada agora; por favor, não pague outra vez. Pode fechar esta página.',
    part: 'É menos do que o preço. Assim que for contado, esta página dirá quanto falta. Aguarde, por favor.',
    other:
      'Esta fatura pede {asset}. O que enviou não se perdeu: quando a rede o tiver confirmado, esta página ' +
      'dirá o que se segue. Por favor, não pague outra vez.',
    sum: 'Visto na rede',
  },
  over: { title: 'O tempo para pagar terminou' },
  choose: 'O preço é fixado quando escolhe. Pode mudar de ideias até ter pago.',
  unavailable: {
    BELOW_MINIMUM: 'O valor é inferior ao mínimo desta rede',
    TEMPORARILY_UNAVAILABLE: 'Indisponível neste momento',
    NOT_AVAILABLE: 'Indisponível para esta fatura',
    NETWORK_OFF: 'Esta rede não está em serviço neste momento',
  },
  about: 'chega em cerca de {time}',
  underMinute: 'chega em menos de um minuto',
  onNetwork: 'em {network}',
  fee: 'taxa de cerca de {fee}',
  feeFrom: 'taxa a partir de {fee}',
  feeUnder: 'taxa inferior a {fee}',
  feeNote: 'A taxa é cobrada pela rede à sua carteira, além do valor. Varia com o tráfego da rede.',
  lowestFee: 'Taxa mais baixa',
  networksOf: 'Redes para {coin}',
  slowNetwork: 'Neste momento, os pagamentos nesta rede são detetados com atraso',
  send: 'Envie exatamente {amount} {asset}',
  sendRest: 'Envie os restantes {amount} {asset}',
  onlySend:
    'Envie para este endereço apenas {asset} na rede {network}. Qualquer outra coisa pode perder-se ou ' +
    'atrasar-se.',
  address: 'Endereço',
  network: 'Rede',
  copy: 'Copiar',
  copied: 'Copiado',
  copyAmount: 'Copiar o valor',
  copyAddress: 'Copiar o endereço',
  tag: 'Etiqueta de destino',
  copyTag: 'Copiar a etiqueta de destino',
  needsTag: 'Indique também esta etiqueta. Sem ela, o seu pagamento não é encontrado.',
  ownTag: 'A sua etiqueta de destino em {network}',
  lightning: {
    invoice: 'Fatura Lightning',
    copy: 'Copiar a fatura',
    only:
      'Pague esta fatura uma só vez e por inteiro, com uma carteira que pague por Lightning. Nada mais chega até ' +
      'ela.',
    either: 'Pague para o endereço, ou pague a fatura por Lightning: um dos dois, uma só vez. O código tem ambos.',
    qr: 'Código QR com a fatura Lightning',
    making: 'A sua fatura Lightning está a ser criada. Aparece aqui por si; se não, escolha outra forma de pagar.',
    hash: 'Hash do pagamento',
    over: 'A fatura Lightning já não pode ser paga: o que uma carteira enviar por ela volta por si.',
  },
  openWallet: 'Abrir na carteira',
  showCode: 'Mostrar o código QR',
  bareCode: 'Código QR só com o endereço',
  bareWhy: 'Para carteiras e corretoras que não leem o código com o valor: escreva o valor exato.',
  wallet: {
    pay: 'Pagar com {wallet}',
    sent: 'Enviado da sua carteira. Esta página mostra-o assim que a rede o mostrar; por favor, não pague outra vez.',
    failed: 'A carteira não enviou o pagamento.',
  },
  qr: 'Código QR com o endereço e o valor em {asset}',
  rate: 'Câmbio',
  clock: {
    price: 'Este preço mantém-se por {left}, até às {end}. Depois, esta página mostra um novo.',
    last: 'Tempo para pagar: {left}, até às {end}.',
  },
  quoteOver: 'O preço já não se mantém. Obtenha o atual antes de pagar.',
  tooLate: 'O preço já não se mantém e o tempo para pagar terminou. Se pagou, nada se perdeu.',
  refresh: 'Obter o preço atual',
  change: 'Pagar com outra moeda',
  cancel: 'Cancelar esta fatura',
  cancelTitle: 'Cancelar esta fatura?',
  cancelSure:
    'Não cancele se já enviou dinheiro: chegaria como um pagamento à parte e precisaria da ajuda do ' +
    '' +
    'comerciante.',
  cancelYes: 'Sim, cancelar',
  cancelNo: 'Não, voltar',
  received: 'Recebido',
  remaining: 'Ainda falta',
  price: 'Preço',
  confirmations: '{now} de {needed} confirmações',
  mayClose: 'Pode fechar esta página: o seu pagamento continua sem ela.',
  done: 'Pode guardar esta página como recibo.',
  back: 'Voltar a {merchant}',
  print: 'Imprimir o recibo',
  receipt: 'Recibo',
  invoice: 'Fatura',
  merchant: 'Comerciante',
  order: 'Encomenda',
  description: 'Referente a',
  contact: 'Contato',
  terms: 'Termos',
  paidOn: 'Pago em',
  refunded: 'Reembolsado',
  pdf: 'Recibo em PDF',
  transaction: 'Transação',
  networkDelayed:
    'Neste momento não vemos novas transações da rede {network}. Se pagou, nada se perdeu: esta fatura não ' +
    'expira até as vermos. Se não pagou, aguarde um pouco, por favor.',
  lateMoney:
    'O dinheiro que chegar agora não se perde: é registado como um pagamento à parte, e o comerciante pode ' +
    'vê-lo e devolvê-lo. Por favor, não envie mais; se já o fez, contacte o comerciante.',
  exceptions: {
    underpaid:
      'Antes de a fatura expirar chegou menos do que o valor total. Contacte o comerciante: o que enviou está ' +
      'guardado para si.',
    overpaid: 'Enviou mais do que o pedido. O comerciante vê-o e pode devolver a diferença.',
    paidLate:
      'Chegou dinheiro depois de esta fatura expirar. Foi registado como um pagamento à parte; contacte o ' +
      'comerciante.',
    wrongCurrency: 'Chegou uma moeda diferente da escolhida. Contacte o comerciante.',
    reorged: 'A rede retirou uma transação por algum tempo. Nada se perdeu: a página segue o que a rede diz.',
  },
  accepted: {
    underpaid: 'Chegou menos do que o valor total; foi aceite como pagamento completo.',
    wrongCurrency: 'Chegou uma moeda diferente da escolhida; foi aceite como pagamento.',
  },
  other: {
    title: 'Recebido noutra moeda',
    asked: 'Enviou {received}. Esta fatura pede {amount} {asset} na rede {network}.',
    notLost: 'O que enviou não se perdeu. Por favor, não pague outra vez; não precisa de fazer nada agora.',
    acceptedAt:
      'É aceite como o seu pagamento em {time}, ou antes se o comerciante o aceitar; o comerciante ainda pode ' +
      'recusá-lo.',
    decidedBy:
      'O comerciante decide até {time} se o aceita como o seu pagamento. Sem resposta, este pagamento termina ' +
      'então e o comerciante pode devolver-lhe as moedas.',
    held: 'Está guardado, e o comerciante pode devolver-lho. Contacte o comerciante e indique esta transação.',
  },
  payer: {
    ask: 'Para onde deve voltar o dinheiro, se algo correr mal?',
    address: 'O seu endereço de {asset} em {network} (opcional)',
    why:
      'Um reembolso vai para este endereço ou, sem ele, para este navegador. Use um endereço seu na rede ' +
      '{network}, nunca o de uma corretora. Pode ser mudado aqui até o seu pagamento ter sido visto, e não ' +
      'depois.',
    save: 'Guardar',
    goesTo: 'Um reembolso iria para',
    yours: 'Não é o seu endereço? Então não pague e contacte o comerciante.',
    locked: 'O seu pagamento foi visto: isto já não pode ser mudado aqui.',
    contested: 'Mais de um navegador diz ser o do pagador. O comerciante decide para onde voltaria o dinheiro.',
    name: 'Indicar o endereço para o seu reembolso',
  },
  mail: {
    ask: 'Receber o recibo por e-mail',
    address: 'O seu endereço de e-mail',
    why:
      'Escrevemos uma única vez, quando o seu pagamento for confirmado. Mais ninguém vê o endereço, ' +
      'nem o comerciante.',
    send: 'Enviar-me o recibo',
    kept: 'O recibo será enviado para o endereço indicado assim que o seu pagamento for confirmado.',
    refused: 'Não é possível enviar o recibo para esse endereço. Verifique-o ou imprima o recibo nesta página.',
  },
  claim: {
    comesBack: 'Antes de a fatura expirar chegou menos do que o valor total. O que enviou volta para si.',
    note:
      'Antes de a fatura expirar chegou menos do que o valor total. O que enviou volta para si. O comerciante ' +
      'vai enviar-lhe uma ligação onde indicar o endereço.',
    titles: {
      awaiting_address: 'Para onde devemos enviar o seu reembolso?',
      awaiting_approval: 'À espera da aprovação do comerciante',
      pending: 'O seu reembolso está a ser preparado',
      processing: 'O seu reembolso está a ser preparado',
      broadcast: 'O seu reembolso está a caminho',
      completed: 'O seu reembolso chegou',
      failed: 'Não foi possível enviar o seu reembolso',
      cancelled: 'Este reembolso foi cancelado',
    },
    texts: {
      awaiting_address: 'O comerciante vai enviar-lhe uma ligação onde indicar o endereço.',
      awaiting_approval: 'Temos o seu endereço. Enviamos o dinheiro assim que o comerciante aprovar o reembolso.',
      pending: 'Temos o seu endereço. Enviamos o dinheiro em breve; pode fechar esta página.',
      processing: 'Temos o seu endereço. Enviamos o dinheiro em breve; pode fechar esta página.',
      broadcast: 'A rede está a confirmá-lo; pode fechar esta página.',
      completed: 'A rede confirmou-o.',
      failed: 'A rede não o aceitou neste endereço. Contacte o comerciante: o dinheiro não se perdeu.',
      cancelled: 'Contacte o comerciante se esperava dinheiro dele.',
    },
    amount: 'Reembolso',
    fee: 'Taxa de rede',
    worth: 'Valor',
    gets: 'Recebe',
    ask: 'Indique um endereço de {asset} em {network} que seja seu e não um contrato inteligente.',
    address: 'O seu endereço de {asset} em {network}',
    own:
      'Use uma carteira sua que aceite {asset} em {network}. O endereço de onde pagou pode ser de uma ' +
      'corretora e não seu; peça-lhe um endereço de depósito.',
    refused:
      'Esse endereço não pode ser usado. Indique um endereço completo da rede {network} que seja seu e não um ' +
      'contrato inteligente.',
    notNow: 'De momento não é possível. Nada se perdeu: tente de novo daqui a alguns minutos.',
    next: 'Continuar',
    sure: 'É este o seu endereço?',
    final: 'Depois já não pode ser mudado nem desfeito. Compare o endereço inteiro.',
    yes: 'Sim, enviar para lá',
    no: 'Não, mudar',
    byLightning: {
      ask:
        'Crie na sua carteira Lightning uma fatura de exatamente {amount} ({satoshi} satoshis), válida ' +
        'pelo tempo que a carteira permitir, no máximo uma semana, e cole-a aqui.',
      address: 'A sua fatura Lightning de {amount}',
      own: 'Use uma carteira sua. O dinheiro vai para quem criou a fatura.',
      refused:
        'Essa fatura não pode ser usada. Tem de ser nova, de exatamente {amount} ({satoshi} satoshis), ' +
        'válida por mais alguns minutos e no máximo uma semana, e não de onde pagou.',
      sure: 'É esta a sua fatura?',
      final: 'Depois não se pode mudar nem anular. Compare o início e o fim da fatura.',
      yes: 'Sim, pagar',
      fee: 'Taxa Lightning',
      texts: {
        awaiting_approval:
          'Temos a sua fatura. Pagamo-la assim que o comerciante aprovar o reembolso; se até lá expirar, ' +
          'peça-lhe uma nova ligação.',
        pending: 'Temos a sua fatura. Pagamo-la em breve; pode fechar esta página.',
        processing: 'Temos a sua fatura. Pagamo-la em breve; pode fechar esta página.',
        completed: 'A sua fatura está paga.',
        failed:
          'A sua fatura não pôde ser paga: expirou, ou não se encontrou caminho até à sua carteira. Peça ' +
          'ao comerciante uma nova ligação: o dinheiro não está perdido.',
      },
    },
  },
  settlement: {
    titles: {
      awaiting_approval: 'Um endereço de liquidação espera aprovação',
      cooling_off: 'Um endereço de liquidação vai mudar',
      applied: 'Um endereço de liquidação foi mudado',
      stopped: 'A mudança foi travada',
      replaced: 'A mudança foi substituída por outra posterior',
    },
    effect: {
      awaiting_approval: 'Se a travar, nunca valerá.',
      cooling_off: 'Se a travar, nunca valerá.',
      applied: 'Se a travar, os novos pagamentos vão para o endereço anterior. Os feitos entretanto mantêm o seu.',
    },
    asked: '{who} pediu para liquidar dinheiro de {merchant} noutro endereço.',
    to: 'O novo endereço',
    before: 'O endereço anterior',
    from: 'Vale a partir de {time}.',
    stop: 'Travar esta mudança',
    refused: 'Não foi possível travá-la: terminou ou vale há mais de uma semana.',
  },
  root: {
    title: 'Páginas de pagamento',
    text:
      'Neste servidor, comerciantes recebem pagamentos em criptomoeda. Cada fatura tem a sua página: abra a ' +
      'ligação que o comerciante lhe deu. Nunca pedimos as suas chaves, a sua frase de recuperação nem uma ' +
      'palavra-passe.',
  },
  helpAt: 'Dúvidas sobre o seu pedido? Fale com {contact} e informe o número da fatura.',
  help: 'Perguntas sobre a sua encomenda? Contacte o comerciante e indique o número da fatura.',
  notFound: 'Esta fatura não existe',
  notFoundText: 'Verifique a ligação ou peça uma nova ao comerciante.',
  away: 'O serviço de pagamento não responde',
  awayText: 'Nada do que enviou se perdeu. Recarregue esta página daqui a um minuto.',
  tooMany: 'Demasiados pedidos',
  tooManyText:
    'A sua ligação enviou demasiados pedidos em pouco tempo. Nada do que enviou se perdeu. Tente de novo ' +
    'daqui a {time}.',
  again: 'Tentar de novo',
  refused: 'Isso já não era possível. A página mostra em que ponto está o pagamento.',
  testMode: 'Instância de teste: aqui as moedas não valem nada. Nunca envie dinheiro real.',
  still: 'Sem JavaScript, esta página não muda sozinha.',
  reload: 'Recarregar a página',
};
