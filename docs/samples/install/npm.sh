# CHECKOUT is the folder of the service. In your own project:
npm pack "$CHECKOUT/sdk/typescript"
npm install ./crypto-payment-service-sdk-*.tgz
