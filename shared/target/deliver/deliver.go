// Package deliver sends to targets besides Slack what package message has made for them.
// Each send ends well, or with an *Error that says whether the same may succeed later.
package deliver

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/smithy-go"

	"rollcall/shared/lazyregexp"
	"rollcall/shared/report"
	"rollcall/shared/target"
	"rollcall/shared/target/message"
)

// Kind is what sort of failure a delivery ended in: it decides what to do next.
type Kind string

// The kinds.
const (
	// Later: the target asks to wait, is away, or its secret is not filled in. The same
	// may succeed later by itself, or when a person has done his part.
	Later Kind = "later"
	// Refused: it does not take this. Sending it again does not help.
	Refused Kind = "refused"
)

// Error is a delivery that failed. It holds no secret: no key and no address.
type Error struct {
	Target string
	Kind   Kind
	Status int // of HTTP; 0 if there was no answer
	// After is how long the target asks to wait; 0 where it does not.
	After time.Duration
	// Says is the target's own explanation, with the field that it does not take.
	Says  string
	cause error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "target %s", e.Target)
	if e.Kind == Refused {
		b.WriteString(" rejects it")
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Says != "" {
		b.WriteString(": " + e.Says)
	}
	if e.cause != nil {
		b.WriteString(": " + e.cause.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.cause }

// Doer makes a request. *http.Client does, as Client makes it.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Sender sends over HTTP.
type Sender struct {
	HTTP Doer
	// PagerDuty is the address of its Events API.
	PagerDuty string
	// JSM is the address of Atlassian's API.
	JSM string
	Now func() time.Time
}

// Atlassian is where the API of Jira Service Management is
// (developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/intro).
const Atlassian = "https://api.atlassian.com"

// Alerting is the secret of a target that keeps alerts: the key to send with alone, or as
// JSON with what its alerts are read back with. Neither PagerDuty's routing keys nor the keys
// of integrations of Jira Service Management can read.
type Alerting struct {
	Key string `json:"key"`
	// Token is a REST API key of PagerDuty (read-only is enough), or an API token of Atlassian.
	Token string `json:"apiToken"`
	// Email is whose token it is, CloudID the site's, at Atlassian alone.
	Email   string `json:"email"`
	CloudID string `json:"cloudId"`
}

// ReadsBack reports whether alerts can be read with it.
func (a Alerting) ReadsBack(k target.Kind) bool {
	return a.Token != "" && (k == target.PagerDuty || a.Email != "" && a.CloudID != "")
}

// ParseAlerting reads the secret of a target that keeps alerts.
func ParseAlerting(t target.Target, text string) (Alerting, error) {
	a := Alerting{Key: text}
	if strings.HasPrefix(text, "{") {
		a = Alerting{}
		if json.Unmarshal([]byte(text), &a) != nil { // the parser's error would quote the secret
			return a, &Error{Target: t.Name(), Kind: Later, Says: "its secret is no JSON (docs/targets.md)"}
		}
	}
	if (a.Token != "" || a.Email != "" || a.CloudID != "") && !a.ReadsBack(t.Kind) || a.CloudID != "" && !genieKey.MatchString(a.CloudID) {
		return a, &Error{Target: t.Name(), Kind: Later, Says: "its secret has a part of what alerts are read back with: Jira needs apiToken, email and cloudId (a UUID), PagerDuty apiToken"}
	}
	if t.Kind == target.JSM {
		return a, checkGenieKey(t.Name(), a.Key)
	}
	return a, checkKey(t.Name(), a.Key)
}

// Alerts reads the alerts with a key back, the newest first.
func (s Sender) Alerts(ctx context.Context, t target.Target, by Alerting, key string) ([]message.Alert, error) {
	if t.Kind == target.JSM {
		return s.jsmAlerts(ctx, t.Name(), by, key)
	}
	return s.pages(ctx, t.Name(), by, key)
}

// mostAlike is how many incidents of PagerDuty are looked into for one key.
const mostAlike = 3

// pages reads PagerDuty's incidents ("List incidents": "Incidents with child alerts do not
// have an incident key; querying by incident key will return incidents whose alerts have
// alert_key matching the given incident key"). One that does not have the key itself is
// looked into: what was done with another incident is none of ours.
func (s Sender) pages(ctx context.Context, name string, by Alerting, key string) (list []message.Alert, _ error) {
	// The REST API is a host of its own (developer.pagerduty.com/docs/rest-api-overview,
	// api.pagerduty.com and api.eu.pagerduty.com).
	base := strings.Replace(strings.TrimSuffix(s.PagerDuty, "/"), "//events.", "//api.", 1) + "/incidents"
	ask := func(path string, into any) error {
		return s.get(ctx, name, base+path, []string{by.Token}, into, map[string]string{
			"Authorization": "Token token=" + by.Token, "Accept": "application/vnd.pagerduty+json;version=2",
		})
	}
	type reference struct{ Summary string }
	type alertKey struct {
		Key string `json:"alert_key"`
	}
	var found struct {
		Incidents []struct {
			ID      string
			Status  report.AlertState
			Key     string    `json:"incident_key"`
			Created time.Time `json:"created_at"`
			Changed time.Time `json:"last_status_change_at"`
			By      reference `json:"last_status_change_by"`
			Acks    []struct {
				At time.Time
				By reference `json:"acknowledger"`
			} `json:"acknowledgements"`
		}
	}
	query := url.Values{
		"incident_key": {key}, "date_range": {"all"}, "sort_by": {"created_at:desc"}, "limit": {"5"},
		"statuses[]": {string(report.AlertTriggered), string(report.AlertAcknowledged), string(report.AlertResolved)},
	}
	if err := ask("?"+query.Encode(), &found); err != nil {
		return nil, err
	}
	looked := 0
	for _, in := range found.Incidents {
		if in.Key != key {
			if looked++; looked > mostAlike {
				break
			}
			var inside struct{ Alerts []alertKey }
			if err := ask("/"+url.PathEscape(in.ID)+"/alerts?limit=100", &inside); err != nil {
				return nil, err
			}
			if !slices.Contains(inside.Alerts, alertKey{key}) {
				continue
			}
		}
		a := message.Alert{State: in.Status, Created: in.Created, Changed: in.Changed, By: in.By.Summary}
		if n := len(in.Acks); n > 0 && in.Status == report.AlertAcknowledged {
			a.Changed, a.By = in.Acks[n-1].At, in.Acks[n-1].By.Summary
		}
		list = append(list, a)
	}
	return list, nil
}

// jsmAlerts reads the alert with an alias ("Get alert by alias", GET /v1/alerts/alias of
// developer.atlassian.com/cloud/jira/service-desk-ops/rest/v2/api-group-alerts), which
// returns open ones alone.
func (s Sender) jsmAlerts(ctx context.Context, name string, by Alerting, alias string) ([]message.Alert, error) {
	var a struct {
		Alias        string
		Status       string
		Acknowledged bool
		Created      time.Time `json:"createdAt"`
		Owner        string
		Report       struct {
			By string `json:"acknowledgedBy"`
		}
	}
	user := base64.StdEncoding.EncodeToString([]byte(by.Email + ":" + by.Token))
	err := s.get(ctx, name, strings.TrimSuffix(s.JSM, "/")+"/jsm/ops/api/"+by.CloudID+"/v1/alerts/alias?alias="+url.QueryEscape(alias), []string{by.Token, user}, &a, map[string]string{
		"Authorization": "Basic " + user, "Accept": "application/json",
	})
	var e *Error
	switch {
	case errors.As(err, &e) && e.Status == http.StatusNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case a.Alias != alias:
		return nil, nil
	}
	alert := message.Alert{State: report.AlertTriggered, Created: a.Created}
	switch {
	case a.Status == "closed":
		alert.State = report.AlertResolved
	case a.Acknowledged:
		alert.State = report.AlertAcknowledged
		// An account's id says nothing to people; an address or a name does.
		for _, who := range []string{a.Report.By, a.Owner} {
			if strings.ContainsAny(who, "@ ") && alert.By == "" {
				alert.By = who
			}
		}
	}
	return []message.Alert{alert}, nil
}

// errNotJSON: an answer is none of the service's, and is not quoted.
var errNotJSON = errors.New("the answer is not JSON")

// get reads an answer. A refusal is worth another look later: a person gives the token its
// right, or puts another in.
func (s Sender) get(ctx context.Context, name, address string, secrets []string, into any, headers map[string]string) error {
	answer, err := s.do(ctx, http.MethodGet, name, address, secrets, nil, headers)
	if err != nil {
		return err
	}
	if json.Unmarshal(answer, into) != nil {
		return &Error{Target: name, Kind: Later, cause: errNotJSON}
	}
	return nil
}

// Alert sends a request to Jira Service Management.
func (s Sender) Alert(ctx context.Context, name, key string, r message.JSM) error {
	if err := checkGenieKey(name, key); err != nil {
		return err
	}
	body, err := json.Marshal(r.Body)
	if err != nil {
		return fmt.Errorf("write the alert for %s: %w", name, err)
	}
	// "Authorization: GenieKey {apiKey}": the key of an API integration, not an API token.
	return s.post(ctx, name, strings.TrimSuffix(s.JSM, "/")+r.Path, []string{key}, body, map[string]string{"Authorization": "GenieKey " + key})
}

// Page sends an event to PagerDuty.
func (s Sender) Page(ctx context.Context, name, key string, event message.PagerDuty) error {
	if err := checkKey(name, key); err != nil {
		return err
	}
	event.RoutingKey = key
	body, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("write the event for %s: %w", name, err)
	}
	return s.post(ctx, name, strings.TrimSuffix(s.PagerDuty, "/")+"/v2/enqueue", []string{key}, body, nil)
}

// Post sends a card to Teams, or a message to an incoming webhook of Slack.
func (s Sender) Post(ctx context.Context, name, address string, body []byte) error {
	return s.post(ctx, name, address, nil, body, nil)
}

// Hook sends an event as it is to a webhook, signed.
func (s Sender) Hook(ctx context.Context, name string, to Webhook, event string, body []byte) error {
	if err := checkHook(name, to); err != nil {
		return err
	}
	return s.post(ctx, name, to.Address, []string{to.Key}, body, message.Headers(to.Key, name, event, body, s.Now()))
}

// maxAnswer bounds what is read of an answer, maxList of one that lists alerts.
const (
	maxAnswer = 64 << 10
	maxList   = 1 << 20
)

func (s Sender) post(ctx context.Context, name, address string, secrets []string, body []byte, headers map[string]string) error {
	_, err := s.do(ctx, http.MethodPost, name, address, secrets, body, headers)
	return err
}

func (s Sender) do(ctx context.Context, method, name, address string, secrets []string, body []byte, headers map[string]string) ([]byte, error) {
	to, err := checkAddress(address, s.PagerDuty, s.JSM)
	if err != nil {
		return nil, &Error{Target: name, Kind: Later, Says: "the address in its secret", cause: err}
	}
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Target: name, Kind: Later, Says: "the address in its secret is missing"} // the error quotes it
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", "Rollcall")
	for key, value := range headers {
		req.Header.Set(key, value)
	}
	secrets = append(secrets, req.URL.String(), req.URL.RawQuery, req.URL.Path)
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return nil, &Error{Target: name, Kind: Later, cause: hidden(err, secrets)}
	}
	most := int64(maxAnswer)
	if method == http.MethodGet {
		most = maxList
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most))
	// What could not be closed is read; what could not be read is no explanation.
	_ = resp.Body.Close()
	if err != nil {
		answer = nil
	}
	return answer, judge(name, resp.StatusCode, resp.Header, answer, secrets, s.Now())
}

// judge is what an answer means. 429 and 5xx are tried again, all else that is no success
// is not (PagerDuty, "API Response Codes & Retry Logic"; Teams and webhooks are held to
// the same).
func judge(name string, status int, header http.Header, answer []byte, secrets []string, now time.Time) error {
	e := &Error{Target: name, Kind: Refused, Status: status, Says: hide(saysOf(answer), secrets)}
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500:
		if e.Kind, e.After = Later, retryAfter(header, now); status == http.StatusTooManyRequests && e.After == 0 {
			e.After = unsaidWait
		}
	case status >= 300 && status < 400:
		e.Says = "it redirects, and redirects are not followed: put the final address into its secret"
	}
	return e
}

// unsaidWait is how long a target waits for that has enough and does not say until when:
// PagerDuty asks for "a backoff of a few minutes"
// (developer.pagerduty.com/docs/events-api-v2/overview, "Rate Limits"), which follow.
const unsaidWait = time.Minute

// mostWait bounds what a target may ask for.
const mostWait = time.Hour

// retryAfter reads the header: seconds, or a time (RFC 9110, section 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(text); err == nil {
		return min(time.Duration(min(max(n, 0), int(mostWait/time.Second)))*time.Second, mostWait)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), mostWait)
	}
	return 0
}

// slackWord is an error of an incoming webhook.
var slackWord = lazyregexp.New(`^[a-z]+(?:_[a-z]+){1,6}$`)

// saysOf finds a target's explanation: PagerDuty's {"status", "message", "errors"}, the
// workflow's {"error": {"code", "message"}}; of anything else nothing, as it could be
// anything.
func saysOf(answer []byte) string {
	var a struct {
		Message string          `json:"message"`
		Errors  []string        `json:"errors"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(answer, &a) != nil {
		// Slack's incoming webhooks answer with a word: invalid_payload, no_service.
		return slackWord.FindString(string(answer))
	}
	parts := append([]string{a.Message}, a.Errors...)
	var inner struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(a.Error, &inner) == nil {
		parts = append(parts, inner.Code, inner.Message)
	}
	var said []string
	for _, p := range parts {
		if p = plain(p); p != "" && len(said) < 4 {
			said = append(said, p)
		}
	}
	return strings.Join(said, ": ")
}

// plain is a foreign text that may stand in a log: one line, short, without what turns or
// hides text.
func plain(s string) string {
	const most = 200
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// hidden drops the address of a request from its error, and the secrets should they be in
// there.
func hidden(err error, secrets []string) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if s := hide(err.Error(), secrets); s != err.Error() {
		return errors.New(s)
	}
	return err
}

func hide(s string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) > 3 {
			s = strings.ReplaceAll(s, secret, "<secret>")
		}
	}
	return s
}

// Limits of one delivery.
const (
	timeout = 10 * time.Second
	connect = 3 * time.Second
)

// The ways in which an address is none that is sent to. None of them quotes it.
var (
	ErrNotHTTPS = errors.New("is not an https address, or contains a user name or password")
	// ErrPrivate: whoever may write the secret must not reach what only this function can.
	ErrPrivate = errors.New("resolves to a private, local or reserved network, and is not called")
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
func checkAddress(address string, ofSettings ...string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || u.User != nil {
		return "", ErrNotHTTPS
	}
	known := func(of string) bool { return of != "" && strings.HasPrefix(address, strings.TrimSuffix(of, "/")+"/") }
	if u.Scheme != "https" && !slices.ContainsFunc(ofSettings, known) {
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
// them), private and unique local ones are known by their kind; the rest are the special
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

// Publisher publishes to a topic.
type Publisher interface {
	Publish(context.Context, *sns.PublishInput, ...func(*sns.Options)) (*sns.PublishOutput, error)
}

var _ Publisher = (*sns.Client)(nil)

// Publish sends a mail, or what a topic's subscribers take in its place, to a topic.
func Publish(ctx context.Context, p Publisher, name, topic string, m message.Mail) error {
	in := &sns.PublishInput{TopicArn: aws.String(topic), Message: aws.String(m.Body), MessageAttributes: map[string]types.MessageAttributeValue{}}
	if m.Subject != "" {
		in.Subject = aws.String(m.Subject)
	}
	for key, value := range m.Attributes {
		in.MessageAttributes[key] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
	}
	_, err := p.Publish(ctx, in)
	if err == nil {
		return nil
	}
	e := &Error{Target: name, Kind: Later, cause: err}
	// What SNS says is wrong with the request, the topic or the permission is so the next
	// time too (SNS API reference, Publish, "Errors"); the client has tried throttled and
	// broken calls again already.
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorFault() == smithy.FaultClient && !strings.Contains(api.ErrorCode(), "Throttl") {
		e.Kind = Refused
	}
	return e
}

// SecretReader reads a secret.
type SecretReader interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

var _ SecretReader = (*secretsmanager.Client)(nil)

// Webhook is where a webhook is, and what its requests are signed with.
type Webhook struct {
	Address string `json:"url"`
	Key     string `json:"key"`
}

// keepSecret is how long a secret is used before it is read again: a rotated one counts
// within minutes.
const keepSecret = 5 * time.Minute

// Secrets keeps what was read of Secrets Manager for some minutes.
type Secrets struct {
	reader SecretReader
	now    func() time.Time
	known  map[string]known
}

type known struct {
	text string
	at   time.Time
}

// NewSecrets makes an empty memory.
func NewSecrets(r SecretReader, now func() time.Time) *Secrets {
	return &Secrets{reader: r, now: now, known: map[string]known{}}
}

var errEmptySecret = errors.New("the secret is empty")

// Read gives a secret's text. A secret that cannot be read is filled in, or permitted, by
// a person: it is tried again later. No error quotes it.
func (s *Secrets) Read(ctx context.Context, target, name string) (string, error) {
	if k, ok := s.known[name]; ok && s.now().Sub(k.at) < keepSecret {
		return k.text, nil
	}
	out, err := s.reader.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(name)})
	if err != nil {
		return "", &Error{Target: target, Kind: Later, Says: "read its secret " + name, cause: err}
	}
	text := strings.TrimSpace(aws.ToString(out.SecretString))
	if text == "" {
		return "", &Error{Target: target, Kind: Later, Says: "read its secret " + name, cause: errEmptySecret}
	}
	s.known[name] = known{text, s.now()}
	return text, nil
}

// Forget has a secret read again: what was refused may have been sent with an old one.
func (s *Secrets) Forget(name string) { delete(s.known, name) }

// IsEmpty reports whether a secret has nothing in it.
func IsEmpty(err error) bool { return errors.Is(err, errEmptySecret) }

// CheckSecret tells what is wrong with the form of a target's secret, without sending
// anything.
func CheckSecret(t target.Target, text string) error {
	switch t.Kind {
	case target.PagerDuty, target.JSM:
		_, err := ParseAlerting(t, text)
		return err
	case target.Teams:
		return checkPlace(t.Name(), text)
	case target.SlackWebhook:
		return CheckSlackHook(t.Name(), text)
	case target.Webhook:
		w, err := ParseWebhook(t.Name(), text)
		if err == nil {
			err = checkHook(t.Name(), w)
		}
		if err == nil {
			err = checkPlace(t.Name(), w.Address)
		}
		return err
	}
	return nil
}

// routingKey is the length of PagerDuty's routing keys
// (developer.pagerduty.com/docs/events-api-v2/trigger-events, "routing_key").
const routingKey = 32

func checkKey(name, key string) error {
	if len(key) != routingKey {
		return &Error{Target: name, Kind: Later, Says: fmt.Sprintf("its secret is not a routing key, which has %d characters", routingKey)}
	}
	return nil
}

// genieKey is the form of the keys of API integrations, which are UUIDs.
var genieKey = lazyregexp.New(`^[0-9A-Za-z]{8}-(?:[0-9A-Za-z]{4}-){3}[0-9A-Za-z]{12}$`)

func checkGenieKey(name, key string) error {
	if !genieKey.MatchString(key) {
		return &Error{Target: name, Kind: Later, Says: "its secret is not the key of an API integration, which is a UUID"}
	}
	return nil
}

func checkPlace(name, address string) error {
	if _, err := checkAddress(address); err != nil {
		return &Error{Target: name, Kind: Later, Says: "the address in its secret", cause: err}
	}
	return nil
}

// slackHook is the form of incoming webhooks, of Slack and of GovSlack. Addresses of Slack's
// workflows (/triggers/…) take other bodies.
var slackHook = lazyregexp.New(`^https://hooks\.slack(?:-gov)?\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]+$`)

// CheckSlackHook passes the address of an incoming webhook of Slack.
func CheckSlackHook(name, address string) error {
	if !slackHook.MatchString(address) {
		return &Error{Target: name, Kind: Later, Says: "its secret holds no incoming webhook: that is https://hooks.slack.com/services/T…/B…/…"}
	}
	return nil
}

// leastKey is the shortest key to sign with: shorter than the hash, it is the weaker part
// (RFC 2104, section 3: "less than L bytes is strongly discouraged").
const leastKey = 32

func checkHook(name string, w Webhook) error {
	if len(w.Key) < leastKey {
		return &Error{Target: name, Kind: Later, Says: fmt.Sprintf("the key in its secret is shorter than %d characters", leastKey)}
	}
	return nil
}

// ParseWebhook reads the secret of a webhook.
func ParseWebhook(target, text string) (Webhook, error) {
	var w Webhook
	// The parser's error would quote the secret.
	if json.Unmarshal([]byte(text), &w) != nil || w.Address == "" || w.Key == "" {
		return Webhook{}, &Error{Target: target, Kind: Later, Says: fmt.Sprintf("its secret does not have the form %s", `{"url": "https://…", "key": "…"}`)}
	}
	return w, nil
}
