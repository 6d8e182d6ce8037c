"""The routes of the Django application of the tests: function and class-based views, synchronous and asynchronous."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import include, path
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from postern_sdk.django import CustomerRequest, CustomerRequiredMixin, current_customer, customer_required, require

from tests.sdk.applications import describe


def open_route(request: CustomerRequest) -> JsonResponse:
    return JsonResponse(describe(request.customer))


@customer_required
async def private_route(request: CustomerRequest) -> JsonResponse:
    return JsonResponse(describe(request.customer))


class Search(CustomerRequiredMixin, View):
    async def get(self, request: CustomerRequest) -> JsonResponse:
        return JsonResponse(describe(request.customer))


@require("invoices:read")
def read_route(request: CustomerRequest) -> JsonResponse:
    return JsonResponse(describe(request.customer))


def write_route(request: HttpRequest) -> JsonResponse:
    customer = current_customer(request)
    customer.require("invoices:write")
    return JsonResponse(describe(customer))


@csrf_exempt
def invoices(request: CustomerRequest) -> Any:
    return read_route(request) if request.method == "GET" else write_route(request)


class Cached(CustomerRequiredMixin, View):
    def get(self, request: CustomerRequest) -> JsonResponse:
        return JsonResponse(describe(request.customer), headers={"Cache-Control": "public, max-age=60"})


@customer_required
def broken_route(request: CustomerRequest) -> JsonResponse:
    raise RuntimeError(describe(request.customer))


urlpatterns = [
    path("auth/", include("postern_sdk.django")),
    path("broken", broken_route),
    path("open", open_route),
    path("private", private_route),
    path("search", Search.as_view()),
    path("invoices", invoices),
    path("cached", Cached.as_view()),
]
