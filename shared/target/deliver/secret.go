package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"rollcall/shared/target"
)

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

// IsEmpty tells that a secret has nothing in it.
func IsEmpty(err error) bool { return errors.Is(err, errEmptySecret) }

// CheckSecret tells what is wrong with the form of a target's secret, without sending
// anything.
func CheckSecret(t target.Target, text string) error {
	switch t.Kind {
	case target.PagerDuty:
		return checkKey(t.Name(), text)
	case target.Teams:
		return checkPlace(t.Name(), text)
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
		return &Error{Target: name, Kind: Later, Says: fmt.Sprintf("its secret holds no routing key: that has %d characters", routingKey)}
	}
	return nil
}

func checkPlace(name, address string) error {
	if _, err := checkAddress(address, ""); err != nil {
		return &Error{Target: name, Kind: Later, Says: "the address in its secret", cause: err}
	}
	return nil
}

// leastKey is the shortest key to sign with: shorter than the hash, it is the weaker part
// (RFC 2104, section 3: "less than L bytes is strongly discouraged").
const leastKey = 32

func checkHook(name string, w Webhook) error {
	if len(w.Key) < leastKey {
		return &Error{Target: name, Kind: Later, Says: fmt.Sprintf("the key in its secret has fewer than %d characters", leastKey)}
	}
	return nil
}

// ParseWebhook reads the secret of a webhook.
func ParseWebhook(target, text string) (Webhook, error) {
	var w Webhook
	// The parser's error would quote the secret.
	if json.Unmarshal([]byte(text), &w) != nil || w.Address == "" || w.Key == "" {
		return Webhook{}, &Error{Target: target, Kind: Later, Says: fmt.Sprintf("its secret is not of the form %s", `{"url": "https://…", "key": "…"}`)}
	}
	return w, nil
}
