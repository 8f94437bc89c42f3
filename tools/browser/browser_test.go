//go:build chromium

package browser

import (
	"errors"
	"strings"
	"testing"
)

func TestFindSaysWhatToInstall(t *testing.T) {
	_, err := find(func(string) (string, error) { return "", errors.New("none") })
	if !errors.Is(err, ErrNoBrowser) || !strings.Contains(err.Error(), "apt-get install chromium") {
		t.Errorf("got %v", err)
	}
}
