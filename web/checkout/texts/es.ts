import type { Texts } from './en';

/** Spanish. */
export const es: Texts = {
  language: 'es',
  locale: 'es',
  direction: 'ltr',
  name: 'Español',
  languages: 'Idioma',
  titles: {
    AWAITING_CURRENCY: 'Elija cómo pagar',
    WAITING: 'Esperamos su pago',
    PARTIALLY_PAID: 'Ha llegado una parte del importe',
    CROSS_CHAIN_PENDING: 'Ha llegado otra moneda',
    CONFIRMING: 'Pago recibido, se está confirmando',
    CONFIRMED: 'Pago confirmado',
    SWEEP_QUEUED: 'Pago confirmado',
    SETTLED: 'Pago completado',
    EXPIRED: 'Esta factura ha caducado',
    CANCELLED: 'Esta factura se canceló',
    FAILED: 'Este pago no se completó',
  },
  seen: {
    title: 'Hemos visto su pago',
    otherTitle: 'Otra moneda está en camino',
    whole: 'No tiene que hacer nada ahora; por favor, no pague otra vez. Puede cerrar esta página.',
    part: 'Es menos que el precio. En cuanto se cuente, esta página dirá cuánto falta. Espere, por favor.',
    other:
      'Esta factura pide {asset}. Lo que envió no se ha perdido: cuando la red lo haya confirmado, esta ' +
      'página dirá qué sigue. Por favor, no pague otra vez.',
    sum: 'Visto en la red',
  },
  over: { title: 'El tiempo para pagar ha terminado' },
  choose: 'El precio se fija cuando elige. Puede cambiar de opinión hasta que haya pagado.',
  unavailable: {
    BELOW_MINIMUM: 'El importe es inferior al mínimo de esta red',
    TEMPORARILY_UNAVAILABLE: 'No disponible en este momento',
    NOT_AVAILABLE: 'No disponible para esta factura',
    NETWORK_OFF: 'Esta red no está en servicio en este momento',
  },
  about: 'llega en unos {time}',
  underMinute: 'llega en menos de un minuto',
  onNetwork: 'en {network}',
  fee: 'comisión de unos {fee}',
  feeFrom: 'comisión desde {fee}',
  feeUnder: 'comisión inferior a {fee}',
  feeNote: 'La comisión la cobra la red a su monedero, aparte del importe. Varía con el tráfico de la red.',
  lowestFee: 'La comisión más baja',
  networksOf: 'Redes para {coin}',
  slowNetwork: 'Los pagos en esta red se detectan con retraso en este momento',
  send: 'Envíe exactamente {amount} {asset}',
  sendRest: 'Envíe los {amount} {asset} restantes',
  onlySend:
    'Envíe a esta dirección solo {asset} en la red {network}. Cualquier otra cosa puede perderse o ' + 'retrasarse.',
  address: 'Dirección',
  network: 'Red',
  copy: 'Copiar',
  copied: 'Copiado',
  copyAmount: 'Copiar el importe',
  copyAddress: 'Copiar la dirección',
  tag: 'Etiqueta de destino',
  copyTag: 'Copiar la etiqueta de destino',
  needsTag: 'Indique también esta etiqueta. Sin ella no se encuentra su pago.',
  ownTag: 'Su etiqueta de destino en {network}',
  lightning: {
    invoice: 'Factura Lightning',
    copy: 'Copiar la factura',
    only:
      'Pague esta factura una sola vez y por completo, con un monedero que pague por Lightning. Nada más llega a ' +
      'ella.',
    either:
      'Pague a la dirección, o pague la factura por Lightning: una de las dos, una sola vez. El código tiene ambas.',
    qr: 'Código QR con la factura Lightning',
    making: 'Su factura Lightning se está creando. Aparece aquí por sí sola; si no, elija otra forma de pago.',
    hash: 'Hash del pago',
    over: 'La factura Lightning ya no se puede pagar: lo que un monedero envíe por ella vuelve por sí solo.',
  },
  openWallet: 'Abrir en el monedero',
  showCode: 'Mostrar el código QR',
  bareCode: 'Código QR solo con la dirección',
  bareWhy: 'Para monederos y casas de cambio que no leen el código con el importe: escriba usted el importe exacto.',
  wallet: {
    pay: 'Pagar con {wallet}',
    sent:
      'Enviado desde su monedero. Esta página lo muestra en cuanto lo muestre la red; por favor, no pague ' +
      'otra vez.',
    failed: 'El monedero no envió el pago.',
  },
  qr: 'Código QR con la dirección y el importe en {asset}',
  rate: 'Cambio',
  clock: {
    price: 'Este precio se mantiene {left}, hasta las {end}. Después, esta página muestra uno nuevo.',
    last: 'Tiempo para pagar: {left}, hasta las {end}.',
  },
  quoteOver: 'El precio ya no se mantiene. Obtenga el actual antes de pagar.',
  tooLate: 'El precio ya no se mantiene y el tiempo para pagar ha terminado. Si ha pagado, nada se ha perdido.',
  refresh: 'Obtener el precio actual',
  change: 'Pagar con otra moneda',
  cancel: 'Cancelar esta factura',
  cancelTitle: '¿Cancelar esta factura?',
  cancelSure:
    'No cancele si ya ha enviado dinero: llegaría como un pago aparte y necesitaría la ayuda del comerciante.',
  cancelYes: 'Sí, cancelarla',
  cancelNo: 'No, volver',
  received: 'Recibido',
  remaining: 'Falta',
  price: 'Precio',
  confirmations: '{now} de {needed} confirmaciones',
  mayClose: 'Puede cerrar esta página: su pago sigue sin ella.',
  done: 'Puede guardar esta página como recibo.',
  back: 'Volver a {merchant}',
  print: 'Imprimir el recibo',
  receipt: 'Recibo',
  invoice: 'Factura',
  merchant: 'Comerciante',
  order: 'Pedido',
  description: 'Concepto',
  contact: 'Contacto',
  terms: 'Condiciones',
  paidOn: 'Pagado el',
  refunded: 'Reembolsado',
  pdf: 'Recibo en PDF',
  transaction: 'Transacción',
  networkDelayed:
    'En este momento no vemos transacciones nuevas de la red {network}. Si ha pagado, nada se ha perdido: ' +
    'esta factura no caduca hasta que las veamos. Si no, espere un poco, por favor.',
  lateMoney:
    'El dinero que llegue ahora no se pierde: se registra como un pago aparte, y el comerciante puede verlo y ' +
    'devolverlo. Por favor, no envíe más; si ya lo ha hecho, contacte con el comerciante.',
  exceptions: {
    underpaid:
      'Antes de que la factura caducara llegó menos que el importe completo. Contacte con el comerciante: lo ' +
      'que envió se guarda para usted.',
    overpaid: 'Envió más de lo pedido. El comerciante lo ve y puede devolver la diferencia.',
    paidLate:
      'Llegó dinero después de que esta factura caducara. Se registró como un pago aparte; contacte con el ' +
      'comerciante.',
    wrongCurrency: 'Llegó una moneda distinta de la elegida. Contacte con el comerciante.',
    reorged: 'La red retiró una transacción por un tiempo. Nada se ha perdido: la página sigue lo que dice la red.',
  },
  accepted: {
    underpaid: 'Llegó menos que el importe completo; se aceptó como pago total.',
    wrongCurrency: 'Llegó una moneda distinta de la elegida; se aceptó como pago.',
  },
  other: {
    title: 'Recibido en otra moneda',
    asked: 'Envió {received}. Esta factura pide {amount} {asset} en la red {network}.',
    notLost: 'Lo que envió no se ha perdido. Por favor, no pague otra vez; no tiene que hacer nada ahora.',
    acceptedAt:
      'Se acepta como su pago el {time}, o antes si el comerciante lo acepta; el comerciante aún puede ' +
      'rechazarlo.',
    decidedBy:
      'El comerciante decide hasta el {time} si lo acepta como su pago. Sin respuesta, este pago termina ' +
      'entonces y el comerciante puede devolverle las monedas.',
    held: 'Se guarda, y el comerciante puede devolvérselo. Contacte con el comerciante e indique esta transacción.',
  },
  payer: {
    ask: '¿Adónde debe volver el dinero si algo sale mal?',
    address: 'Su dirección de {asset} en {network} (opcional)',
    why:
      'Un reembolso va a esta dirección o, sin ella, a este navegador. Use una dirección propia en la red ' +
      '{network}, nunca la de una casa de cambio. Puede cambiarla aquí hasta que se haya visto su pago, y no ' +
      'después.',
    save: 'Guardar',
    goesTo: 'Un reembolso iría a',
    yours: '¿No es su dirección? Entonces no pague y contacte con el comerciante.',
    locked: 'Se ha visto su pago: esto ya no puede cambiarse aquí.',
    contested: 'Más de un navegador dice ser el del pagador. El comerciante decide adónde volvería el dinero.',
    name: 'Indicar la dirección para su reembolso',
  },
  mail: {
    ask: 'Recibir el recibo por correo',
    address: 'Su correo electrónico',
    why:
      'Le escribimos una sola vez, cuando su pago esté confirmado. Nadie más ve la dirección, tampoco ' +
      'el comerciante.',
    send: 'Enviarme el recibo',
    kept: 'El recibo se enviará a la dirección indicada en cuanto su pago esté confirmado.',
    refused: 'No se puede enviar el recibo a esa dirección. Revísela o imprima el recibo desde esta página.',
  },
  claim: {
    comesBack: 'Antes de que la factura caducara llegó menos que el importe completo. Lo que envió vuelve a usted.',
    note:
      'Antes de que la factura caducara llegó menos que el importe completo. Lo que envió vuelve a usted. El ' +
      'comerciante le enviará un enlace en el que indicar la dirección.',
    titles: {
      awaiting_address: '¿Adónde enviamos su reembolso?',
      awaiting_approval: 'Esperamos la aprobación del comerciante',
      pending: 'Su reembolso se está preparando',
      processing: 'Su reembolso se está preparando',
      broadcast: 'Su reembolso está en camino',
      completed: 'Su reembolso ha llegado',
      failed: 'No se pudo enviar su reembolso',
      cancelled: 'Este reembolso se canceló',
    },
    texts: {
      awaiting_address: 'El comerciante le enviará un enlace en el que indicar la dirección.',
      awaiting_approval: 'Tenemos su dirección. Enviamos el dinero en cuanto el comerciante apruebe el reembolso.',
      pending: 'Tenemos su dirección. Enviamos el dinero en breve; puede cerrar esta página.',
      processing: 'Tenemos su dirección. Enviamos el dinero en breve; puede cerrar esta página.',
      broadcast: 'La red lo está confirmando; puede cerrar esta página.',
      completed: 'La red lo ha confirmado.',
      failed: 'La red no lo aceptó en esta dirección. Contacte con el comerciante: el dinero no se ha perdido.',
      cancelled: 'Contacte con el comerciante si esperaba dinero de él.',
    },
    amount: 'Reembolso',
    fee: 'Comisión de red',
    worth: 'Valor',
    gets: 'Recibe',
    ask: 'Escriba una dirección de {asset} en {network} que sea suya y no un contrato inteligente.',
    address: 'Su dirección de {asset} en {network}',
    own:
      'Use un monedero propio que acepte {asset} en {network}. La dirección desde la que pagó puede ser de ' +
      'una casa de cambio y no suya; pídale una dirección de depósito.',
    refused:
      'Esa dirección no puede usarse. Escriba una dirección completa de la red {network} que sea suya y no un ' +
      'contrato inteligente.',
    notNow: 'Ahora mismo no es posible. Nada se ha perdido: inténtelo de nuevo dentro de unos minutos.',
    next: 'Continuar',
    sure: '¿Es esta su dirección?',
    final: 'Después no se puede cambiar ni deshacer. Compare la dirección entera.',
    yes: 'Sí, enviarlo allí',
    no: 'No, cambiarla',
    byLightning: {
      ask:
        'Cree en su monedero Lightning una factura por exactamente {amount} ({satoshi} satoshis), válida ' +
        'tanto tiempo como permita su monedero, una semana como máximo, y péguela aquí.',
      address: 'Su factura Lightning por {amount}',
      own: 'Use un monedero propio. El dinero lo recibe quien haya creado la factura.',
      refused:
        'Esa factura no se puede usar. Debe ser nueva, por exactamente {amount} ({satoshi} satoshis), ' +
        'válida unos minutos más y una semana como máximo, y no de donde usted pagó.',
      sure: '¿Es esta su factura?',
      final: 'Después no se puede cambiar ni deshacer. Compare el principio y el final de la factura.',
      yes: 'Sí, pagarla',
      fee: 'Comisión de Lightning',
      texts: {
        awaiting_approval:
          'Tenemos su factura. La pagamos en cuanto el comercio haya aprobado el reembolso; si para ' +
          'entonces ha caducado, pida al comercio un enlace nuevo.',
        pending: 'Tenemos su factura. La pagamos en breve; puede cerrar esta página.',
        processing: 'Tenemos su factura. La pagamos en breve; puede cerrar esta página.',
        completed: 'Su factura está pagada.',
        failed:
          'No se pudo pagar su factura: ha caducado o no se encontró un camino hasta su monedero. Pida al ' +
          'comercio un enlace nuevo: el dinero no está perdido.',
      },
    },
  },
  settlement: {
    titles: {
      awaiting_approval: 'Una dirección de liquidación espera aprobación',
      cooling_off: 'Una dirección de liquidación va a cambiar',
      applied: 'Una dirección de liquidación ha cambiado',
      stopped: 'El cambio se detuvo',
      replaced: 'El cambio fue sustituido por otro posterior',
    },
    effect: {
      awaiting_approval: 'Si lo detiene, no valdrá nunca.',
      cooling_off: 'Si lo detiene, no valdrá nunca.',
      applied:
        'Si lo detiene, los pagos nuevos se liquidan en la dirección anterior. Los hechos entretanto ' +
        'conservan la suya.',
    },
    asked: '{who} pidió liquidar dinero de {merchant} en otra dirección.',
    to: 'La dirección nueva',
    before: 'La dirección anterior',
    from: 'Vale a partir del {time}.',
    stop: 'Detener este cambio',
    refused: 'No se pudo detener: ha terminado o vale desde hace más de una semana.',
  },
  root: {
    title: 'Páginas de pago',
    text:
      'Los comerciantes cobran en criptomonedas en este servidor. Cada factura tiene su propia página: abra ' +
      'el enlace que le dio el comerciante. Nunca pedimos sus claves, su frase de recuperación ni una ' +
      'contraseña.',
  },
  helpAt: '¿Preguntas sobre su pedido? Escriba a {contact} e indique el número de factura.',
  help: '¿Preguntas sobre su pedido? Contacte con el comerciante e indique el número de factura.',
  notFound: 'Esta factura no existe',
  notFoundText: 'Compruebe el enlace o pida uno nuevo al comerciante.',
  away: 'El servicio de pago no responde',
  awayText: 'Nada de lo que envió se ha perdido. Vuelva a cargar esta página en un minuto.',
  tooMany: 'Demasiadas solicitudes',
  tooManyText:
    'Su conexión ha enviado demasiadas solicitudes en poco tiempo. Nada de lo que envió se ha perdido. ' +
    'Inténtelo de nuevo en {time}.',
  again: 'Intentarlo de nuevo',
  refused: 'Eso ya no era posible. La página muestra cómo está ahora el pago.',
  testMode: 'Instancia de pruebas: aquí las monedas no valen nada. No envíe nunca dinero real.',
  still: 'Sin JavaScript, esta página no cambia por sí sola.',
  reload: 'Recargar la página',
};
