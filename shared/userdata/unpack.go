package userdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxSize bounds what is unpacked. EC2 takes 16 KB of user data (EC2 user
// guide, "Run commands when you launch"); gzip makes at most about a thousand
// times as much of it, and nothing sensible makes more than this.
const maxSize = 1 << 20

// errTooLarge is what TooLarge looks for.
type errTooLarge struct{}

func (errTooLarge) Error() string {
	return fmt.Sprintf("user data is larger than %d KiB when it is unpacked", maxSize>>10)
}

// TooLarge tells that user data was not read because it unpacks to more than
// 1 MiB.
func TooLarge(err error) bool { return errors.As(err, new(errTooLarge)) }

// unpack takes off what may be around the text: gzip, and base64 that
// somebody put on although the API's client does so too. nodeadm and
// cloud-init take both off.
func unpack(data []byte) ([]byte, error) {
	// Base64 around gzip around base64 is as far as mistakes go.
	const layers = 4
	for range layers {
		switch {
		case isGzip(data):
			plain, err := gunzip(data)
			if err != nil {
				return nil, err
			}
			data = plain
			continue
		case len(data) > maxSize:
			return nil, errTooLarge{}
		}
		plain, ok := unbase64(data)
		if !ok {
			return data, nil
		}
		data = plain
	}
	return data, nil
}

func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

func gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack user data: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("unpack user data: %w", err)
	}
	if len(plain) > maxSize {
		return nil, errTooLarge{}
	}
	return plain, nil
}

// unbase64 takes base64 off if what comes out is something that is expected:
// a short word can be valid base64 too.
func unbase64(data []byte) ([]byte, bool) {
	text := strings.TrimSpace(string(data))
	if len(text) < 8 {
		return nil, false
	}
	// The decoder ignores line ends.
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, false
	}
	head := strings.ToLower(string(plain[:min(len(plain), 4096)]))
	for _, mark := range []string{"#!", "mime-version:", "content-type:", "#cloud-config", "apiversion:", "<powershell>", "[settings", "settings."} {
		if strings.Contains(head, mark) {
			return plain, true
		}
	}
	_, again := unbase64Text(plain)
	return plain, isGzip(plain) || again
}

// unbase64Text tells that data is base64 of gzip: the form of most tools that
// compress.
func unbase64Text(data []byte) ([]byte, bool) {
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(data)))
	return plain, err == nil && isGzip(plain)
}
