package userdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

// unpack takes off what may be around the text: gzip, and base64 that
// somebody put on although the API's client does so too. nodeadm and
// cloud-init take both off. Gzip makes up to a thousand times as much of what
// is in it, in each layer.
func (b *budget) unpack(data []byte) ([]byte, error) {
	// Base64 around gzip around base64 is as far as mistakes go.
	const layers = 4
	for range layers {
		if isGzip(data) {
			plain, err := b.gunzip(data)
			if err != nil {
				return nil, err
			}
			data = plain
			continue
		}
		if !b.spend(Work, len(data)) {
			return nil, b.over
		}
		plain, ok := unbase64(data)
		if !ok {
			return data, nil
		}
		if !b.spend(Unpacked, len(plain)) {
			return nil, b.over
		}
		data = plain
	}
	return data, nil
}

func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

func (b *budget) gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack user data: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, int64(max(0, b.unpacked))+1))
	if err != nil {
		return nil, fmt.Errorf("unpack user data: %w", err)
	}
	if !b.spend(Unpacked, len(plain)) {
		return nil, b.over
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
