import { defaultBranding, type Branding, type WidgetSettings } from '../../../domain/widgets/widget';
import { client, payload } from '../api/client';
import { queryClient } from '../api/queries';

export const readWidget = (widgetId: string) =>
  payload(client.GET('/api/v1/widgets/{widgetId}', { params: { path: { widgetId } } }));
export type Widget = Awaited<ReturnType<typeof readWidget>>;

export const renewWidgets = async (): Promise<void> => {
  await Promise.all(['widgets', 'widget'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
};

/** A widget as its form holds it: amounts and lists as they are typed. */
export type Form = Readonly<
  Pick<
    WidgetSettings,
    | 'type'
    | 'name'
    | 'amountMode'
    | 'allowedCurrencies'
    | 'donorFields'
    | 'requiredDonorFields'
    | 'displayMode'
    | 'isActive'
  > & {
    fixedAmount: string;
    suggestedAmounts: string;
    minAmount: string;
    maxAmount: string;
    allowedOrigins: string;
    successUrl: string;
    cancelUrl: string;
    thankYouText: string;
    branding: Branding;
  }
>;

export const emptyForm: Form = {
  type: 'payment',
  name: '',
  amountMode: 'fixed',
  fixedAmount: '',
  suggestedAmounts: '',
  minAmount: '',
  maxAmount: '',
  allowedOrigins: '',
  allowedCurrencies: [],
  donorFields: [],
  requiredDonorFields: [],
  displayMode: 'redirect',
  successUrl: '',
  cancelUrl: '',
  thankYouText: '',
  branding: defaultBranding,
  isActive: true,
};

export const formOf = (widget: Widget): Form => ({
  ...(widget as unknown as Form),
  fixedAmount: widget.fixedAmount ?? '',
  suggestedAmounts: widget.suggestedAmounts.join('\n'),
  minAmount: widget.minAmount ?? '',
  maxAmount: widget.maxAmount ?? '',
  allowedOrigins: widget.allowedOrigins.join('\n'),
  successUrl: widget.successUrl ?? '',
  cancelUrl: widget.cancelUrl ?? '',
  thankYouText: widget.thankYouText ?? '',
});

export const linesOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** The form as the API takes it. A price of the payer's choice has no fixed amount. */
export function bodyOf(form: Form) {
  const isFixed = form.amountMode === 'fixed';
  return {
    type: form.type,
    name: form.name.trim(),
    amountMode: form.amountMode,
    ...(isFixed
      ? { fixedAmount: form.fixedAmount.trim() }
      : {
          suggestedAmounts: linesOf(form.suggestedAmounts),
          minAmount: form.minAmount.trim() || null,
          maxAmount: form.maxAmount.trim() || null,
        }),
    allowedOrigins: linesOf(form.allowedOrigins),
    allowedCurrencies: [...form.allowedCurrencies],
    donorFields: [...form.donorFields],
    requiredDonorFields: [...form.requiredDonorFields],
    displayMode: form.displayMode,
    successUrl: form.successUrl.trim(),
    cancelUrl: form.cancelUrl.trim(),
    thankYouText: form.thankYouText,
    branding: form.branding,
    isActive: form.isActive,
  };
}
