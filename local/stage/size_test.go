package stage

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFunctionsAreSmall guards against the reflection that makes the linker
// keep every method of every SDK client: a function then weighs 44 MB or more
// instead of 12 to 14 (26 where it is four functions and draws), and starts three times as slowly.
func TestFunctionsAreSmall(t *testing.T) {
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	const most = 28 << 20 // sweep holds what four others do; 44 MB where the linker keeps what is not called
	folders, err := os.ReadDir(dir)
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d functions were built: %v", len(folders), err)
	}
	for _, folder := range folders {
		name := folder.Name()
		info, err := os.Stat(filepath.Join(dir, name, "bootstrap"))
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			t.Errorf("%s is %d MB, want at most %d", name, info.Size()>>20, most>>20)
		}
	}
}
