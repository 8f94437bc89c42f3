package deliver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Limits of one delivery.
const (
	timeout = 10 * time.Second
	connect = 3 * time.Second
)

// The ways in which an address is none that is sent to. None of them quotes it.
var (
	ErrNotHTTPS = errors.New("is no https address, or has a name or a password in it")
	// ErrPrivate: whoever may write the secret must not reach what only this function can.
	ErrPrivate = errors.New("leads to a private, local or otherwise reserved network, and is not asked")
)

// Client makes requests to addresses that an operator has written: to public networks
// alone, whatever their names resolve to at the moment of the connection, without
// following redirects, and within ten seconds. by, if any, is taken in place of the network.
func Client(by http.RoundTripper) *http.Client {
	if by == nil {
		by = &http.Transport{
			// No proxy: it would connect where this function does not.
			DialContext:         (&net.Dialer{Timeout: connect, Control: publicOnly}).DialContext,
			TLSHandshakeTimeout: connect, ForceAttemptHTTP2: true, MaxIdleConns: 10, IdleConnTimeout: time.Minute,
		}
	}
	return &http.Client{
		Transport: by, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkAddress passes an https address, and what begins with an address of the settings.
func checkAddress(address, ofSettings string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || u.User != nil {
		return "", ErrNotHTTPS
	}
	if u.Scheme != "https" && (ofSettings == "" || !strings.HasPrefix(address, strings.TrimSuffix(ofSettings, "/")+"/")) {
		return "", ErrNotHTTPS
	}
	return u.String(), nil
}

// publicOnly is asked after a name is resolved and before the connection is made: a name
// that resolves to something else the second time is caught too.
func publicOnly(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPrivate, err)
	}
	if !public(to.Addr()) {
		return ErrPrivate
	}
	return nil
}

// public tells an address of the internet. Loopback, link-local (169.254.169.254 among
// them), private and unique local ones are told by their kind; the rest are the special
// networks of IANA's registries (RFC 6890, www.iana.org/assignments/iana-ipv4-special-registry
// and iana-ipv6-special-registry), and those that carry an IPv4 address within.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, special := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		if netip.MustParsePrefix(special).Contains(a) {
			return false
		}
	}
	return true
}
