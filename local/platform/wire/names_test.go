package wire

import "testing"

func TestParseNamesRefusesBrokenTables(t *testing.T) {
	for _, text := range []string{"op X", "service ec2\nField wire", "service ec2\nin A\none two three four", "service ec2\nrest A GET"} {
		if _, err := parseNames(text); err == nil {
			t.Errorf("table %q was accepted", text)
		}
	}
}

func TestNamesStaySmall(t *testing.T) {
	// The table is read at each start of the stage and sits in the repository.
	const limit = 300 << 10
	if len(namesText) > limit {
		t.Errorf("names.txt has %d bytes, want at most %d", len(namesText), limit)
	}
}
