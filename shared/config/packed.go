package config

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

// packed begins a value that is compressed: a function's environment takes
// 4 KB in all, which the names of a hundred clusters can fill (package limits).
const packed = "gzip:"

// mostUnpacked bounds what a value may unpack to, in bytes.
const mostUnpacked = 1 << 20

// Pack writes a value in fewer characters, if it is a list whose parts are
// alike, as clusters' names are. Load reads both forms.
func Pack(text string) string {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return text // a buffer takes everything: cannot happen
	}
	return packed + base64.StdEncoding.EncodeToString(b.Bytes())
}

// Unpack reads a value that may be packed.
func Unpack(text string) (string, error) {
	code, ok := strings.CutPrefix(text, packed)
	if !ok {
		return text, nil
	}
	data, err := base64.StdEncoding.DecodeString(code)
	if err != nil {
		return "", fmt.Errorf("unpack: %w", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", fmt.Errorf("unpack: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, mostUnpacked+1))
	if err != nil {
		return "", fmt.Errorf("unpack: %w", err)
	}
	if len(plain) > mostUnpacked {
		return "", fmt.Errorf("unpack: more than %d bytes", mostUnpacked)
	}
	return string(plain), nil
}
