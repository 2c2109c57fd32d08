from daimon.abi.secret import Redactor
from daimon.testing.contracts.redactor import RedactorContract
from daimon.testing.redactor import PlainRedactor


class TestContract(RedactorContract):
    def redactor(self, name: str, value: str) -> Redactor:
        return PlainRedactor({name: value})
