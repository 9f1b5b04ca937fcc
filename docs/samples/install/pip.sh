# CHECKOUT is the folder of the service. In the environment of your own project:
python -m pip wheel --no-deps --wheel-dir . "$CHECKOUT/sdk/python"
python -m pip install ./crypto_payment_service-*.whl
