"""What every redactor must do. A test class inherits this and says how one is made."""

from daimon.abi.secret import Redactor

VALUE = "Vq8_mZ3-tL7xK2wR9"


class RedactorContract:
    def redactor(self, name: str, value: str) -> Redactor:
        raise NotImplementedError

    def test_a_known_value_does_not_pass(self) -> None:
        made = self.redactor("it", VALUE)
        assert made.clean(f"a {VALUE} b") == made.clean_known(f"a {VALUE} b") == "a [secret it] b"

    def test_other_text_passes_unchanged(self) -> None:
        made = self.redactor("it", VALUE)
        assert made.clean("nothing here, Vq8 neither") == made.clean_known("nothing here, Vq8 neither") == "nothing here, Vq8 neither"

    def test_the_beginning_of_a_value_waits_for_the_rest(self) -> None:
        made = self.redactor("it", VALUE)
        assert made.unfinished(f"say {VALUE[:9]}") >= 9
        assert made.unfinished(f"say {VALUE}") >= len(VALUE)
        assert made.unfinished("") == 0
