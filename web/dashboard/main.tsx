import './design/tokens.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queries';
import { Toasts } from './design/feedback';
import { router } from './routes';
import { TestMode } from './shell/test-mode';
import { StepUpProvider } from './step-up/step-up';
import { PreferencesProvider } from './texts/texts';

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <PreferencesProvider>
      <TestMode />
      <QueryClientProvider client={queryClient}>
        <Toasts>
          <StepUpProvider>
            <RouterProvider router={router} />
          </StepUpProvider>
        </Toasts>
      </QueryClientProvider>
    </PreferencesProvider>
  </StrictMode>,
);
