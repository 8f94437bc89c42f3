package section

import "testing"

func TestPut(t *testing.T) {
	first := Put("# Load\n\nx\n", "\nold\n")
	if want := "# Load\n\nx\n\n## A tick\n\nold\n"; first != want {
		t.Errorf("got %q, want %q", first, want)
	}
	if got, want := Put(first, "\nnew\n"), "# Load\n\nx\n\n## A tick\n\nnew\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Of(first); "# Load\n\nx\n"+got != first || Of("# Load\n") != "" {
		t.Errorf("section %q", got)
	}
}
