package userdata

import (
	"encoding/base64"
	"encoding/pem"
	"strings"
)

// Authorities are the certificates in a certificate authority as user data
// gives it, in DER: base64 of PEM. None is returned for what is neither.
func Authorities(ca string) [][]byte {
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(ca))
	if err != nil {
		return nil
	}
	return Certificates(text)
}

// Certificates are the certificates in PEM, in DER.
func Certificates(text []byte) [][]byte {
	var list [][]byte
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return list
		}
		if block.Type == "CERTIFICATE" {
			list = append(list, block.Bytes)
		}
		text = rest
	}
}
