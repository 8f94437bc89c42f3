package simaws

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"strings"
	"sync"
	"time"

	"rollcall/local/platform/wire"
)

// Identity is someone who can sign requests: a function's role or a person.
type Identity struct {
	wire.Principal
	AccessKeyID, SecretAccessKey string
	// RoleARN is the role behind an assumed-role ARN: what access entries
	// name. For a user it is the user's ARN.
	RoleARN string
	// SessionToken comes with temporary credentials, and Expires is when they end.
	SessionToken string
	Expires      time.Time
	// Admin may do everything in every cluster, as the one who made the
	// cluster may.
	Admin bool
}

// RoleIdentity is the identity of a function whose execution role has the
// function's name. Its keys are derived from the name, so they are the same in
// each run; they open nothing but the stage.
func RoleIdentity(account, name string) Identity {
	id, secret := keysFor("role/" + name)
	return Identity{
		Principal: wire.Principal{Name: name, Account: account,
			ARN: "arn:aws:sts::" + account + ":assumed-role/" + name + "/" + name},
		RoleARN:     "arn:aws:iam::" + account + ":role/" + name,
		AccessKeyID: id, SecretAccessKey: secret,
	}
}

// AdminIdentity is the person at the keyboard, with the AWS CLI and kubectl.
func AdminIdentity(account, name string) Identity {
	id, secret := keysFor("user/" + name)
	arn := "arn:aws:iam::" + account + ":user/" + name
	return Identity{
		Principal:   wire.Principal{Name: name, Account: account, ARN: arn},
		RoleARN:     arn,
		AccessKeyID: id, SecretAccessKey: secret, Admin: true,
	}
}

// keysFor derives an access key id of AWS's form, and a secret key.
func keysFor(name string) (id, secret string) {
	sum := sha256.Sum256([]byte("rollcall stage " + name))
	return "AKIA" + base32.StdEncoding.EncodeToString(sum[:])[:16], hex.EncodeToString(sum[:])[:40]
}

// userID is what STS calls UserId: an unpredictable id, and for a role the
// session's name behind it.
func (i Identity) userID() string {
	sum := sha256.Sum256([]byte(i.RoleARN))
	id := base32.StdEncoding.EncodeToString(sum[:])[:17]
	if !strings.Contains(i.ARN, ":assumed-role/") {
		return "AIDA" + id
	}
	return "AROA" + id + ":" + i.ARN[strings.LastIndex(i.ARN, "/")+1:]
}

// directory finds identities by their access key id. Sessions come in while it is
// asked.
type directory struct {
	mu  sync.RWMutex
	ids map[string]Identity
	now func() time.Time
}

func newDirectory(ids []Identity, now func() time.Time) *directory {
	d := &directory{ids: map[string]Identity{}, now: now}
	for _, id := range ids {
		d.add(id)
	}
	return d
}

func (d *directory) add(id Identity) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids[id.AccessKeyID] = id
}

func (d *directory) revoke(role string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.ids, func(_ string, id Identity) bool { return id.SessionToken != "" && (role == "" || id.RoleARN == role) })
}

// of is who an access key id belongs to.
func (d *directory) of(accessKeyID string) (Identity, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	id, ok := d.ids[accessKeyID]
	return id, ok
}

func (d *directory) principal(accessKeyID string) (wire.Principal, bool) {
	id, ok := d.of(accessKeyID)
	return id.Principal, ok
}

func (d *directory) secret(accessKeyID string) (string, bool) {
	id, ok := d.of(accessKeyID)
	return id.SecretAccessKey, ok
}

// session tells whether the token is that of the key's session, which lasts. Temporary
// keys without their token, or with another, are as unknown as those of nobody (IAM
// user guide, "Use temporary credentials with AWS resources").
func (d *directory) session(accessKeyID, token string) bool {
	id, ok := d.of(accessKeyID)
	if ok && id.SessionToken == "" {
		return true // Lambda gives functions a token, which nobody here made
	}
	return ok && id.SessionToken == token && (id.Expires.IsZero() || d.now().Before(id.Expires))
}

// secretFor tells the secret key of an access key id. The owner is returned as
// the access key id itself, which the caller looks up again.
func (d *directory) secretFor(accessKeyID, token string) (secret, owner string, ok bool) {
	id, ok := d.of(accessKeyID)
	return id.SecretAccessKey, accessKeyID, ok && d.session(accessKeyID, token)
}

// assumed is a session of a role: its keys begin with ASIA (IAM user guide, "IAM
// identifiers"), and are derived from what it is of and when it was made. Its calls are
// known by the session's name, which is that of the function that made it.
func assumed(account, role, session string, at time.Time, life time.Duration) Identity {
	name := role[strings.LastIndex(role, "/")+1:]
	id, secret := keysFor("session/" + role + "/" + session + "/" + at.UTC().Format(time.RFC3339Nano))
	sum := sha256.Sum256([]byte("token " + secret))
	return Identity{
		Principal:   wire.Principal{Name: session, Account: account, ARN: "arn:aws:sts::" + account + ":assumed-role/" + name + "/" + session},
		RoleARN:     role,
		AccessKeyID: "ASIA" + id[4:], SecretAccessKey: secret,
		SessionToken: base64.StdEncoding.EncodeToString(sum[:]), Expires: at.Add(life),
	}
}
