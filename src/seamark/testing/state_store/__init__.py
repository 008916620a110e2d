"""The behaviour suite of state stores: one class that a provider subclasses with one fixture.

class TestMyStore(StateStoreSuite):
    @pytest.fixture
    def store_factory(self, tmp_path):
        return MyStoreFactory(tmp_path)  # a StateStoreFactory
"""

from __future__ import annotations

import pytest

from seamark.testing.state_store.adoption import AdoptionSuite
from seamark.testing.state_store.checkpoints import CommitSuite, PrepareSuite
from seamark.testing.state_store.contents import ContentsSuite
from seamark.testing.state_store.given import Row, StateStoreFactory
from seamark.testing.state_store.leases import LeasesSuite

__all__ = ["Row", "StateStoreFactory", "StateStoreSuite"]


class StateStoreSuite(LeasesSuite, PrepareSuite, CommitSuite, AdoptionSuite, ContentsSuite):
    """What `seamark.state.store` promises, as tests. Each test gets a new, empty store from `store_factory`."""

    @pytest.fixture
    def store_factory(self) -> StateStoreFactory:
        raise NotImplementedError("give the suite a fixture `store_factory` that returns a StateStoreFactory")
