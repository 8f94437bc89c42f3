package redact

import (
	"testing"
)

// Put together from pieces, so that no scanner of repositories takes them for
// real ones.
const (
	awsSecret = "wJalrXUtnFEMIK7MDENG" + "bPxRfiCYEXAMPLEKEY12"
	gitHub    = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	slackBot  = "xoxb-" + "123456789012-abcDEF"
	jwt       = "eyJhbGciOiJSUzI1NiJ9" + ".eyJzdWIiOiJ4In0" + ".c2lnbmF0dXJl"
)

func TestRedact(t *testing.T) {
	tests := []struct{ line, want string }{
		// name: value
		{"password: hunter2", "password: …"},
		{"root password: hunter", "root password: …"},
		{"  DB_PASS: hunter", "DB_PASS: …"},
		{"x-vault-token: abc123 then more", "x-vault-token: … then more"},
		{"apiKey: 0a1b2c", "apiKey: …"},
		{"Password:hunter2 User:x", "Password:… User:x"},
		{"Cookie: session=abc; theme=dark", "Cookie: …; theme=dark"},
		// name=value
		{"password=hunter2 user=x", "password=… user=x"},
		{"export AWS_SECRET_ACCESS_KEY=short1 REGION=us-west-2", "export AWS_SECRET_ACCESS_KEY=… REGION=us-west-2"},
		{"PGPASSWORD='two words' psql", "PGPASSWORD='…' psql"},
		{`dbPassword = "two words" # x`, `dbPassword = "…" # x`},
		{`SECRET="a\"b" next`, `SECRET="…" next`},
		{"Server=db;Password=hun;ter2;", "Server=db;Password=…;"},
		{"{password=hunter2, user=x}", "{password=…, user=x}"},
		{"token=hunter2", "token=…"},
		{"%password=hunter2", "%password=…"},
		{"GET /?a=1&token=abc&b=2 failed", "GET /?a=1&token=…&b=2 failed"},
		{"https://b.s3.amazonaws.com/x?X-Amz-Security-Token=abc&X-Amz-Signature=0f0f 403", "https://b.s3.amazonaws.com/x?X-Amz-Security-Token=…&X-Amz-Signature=… 403"},
		{"clientSecret => 'x1', id => 'y'", "clientSecret => '…', id => 'y'"},
		// JSON
		{`{"password":"hunter2","user":"x"}`, `{"password":"…","user":"x"}`},
		{`{"auths":{"r":{"auth":"dXNlcjpwYXNz"}}}`, `{"auths":{"r":{"auth":"…"}}}`},
		{`{"msg":"got {\"clientSecret\": \"hunter2\", \"id\":\"x\"}"}`, `{"msg":"got {\"clientSecret\": \"…\", \"id\":\"x\"}"}`},
		{`{"token": 12345, "n": 1}`, `{"token": …, "n": 1}`},
		{`{"secret":{"password":"hunter2"}}`, `{"secret":{"password":"…"}}`},
		{`{"SecretAccessKey" : "cut`, `{"SecretAccessKey" : "…`},
		{`{"error":"bad token=abc","level":"fatal"}`, `{"error":"bad token=…","level":"fatal"}`},
		// Flags with a blank, and with user:password.
		{"registry-login --username x --password hunter2 reg.io", "registry-login --username x --password … reg.io"},
		{`["--password", "hunter2", "-v"]`, `["--password", "…", "-v"]`},
		{"join --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:00ff", "join --token … --discovery-token-ca-cert-hash sha256:00ff"},
		{"ctr pull --creds AWS:hunter2 602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.5", "ctr pull --creds AWS:… 602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.5"},
		{"curl -u admin:hunter2 https://repo.corp", "curl -u admin:… https://repo.corp"},
		{"curl --user 'admin:hunter2' https://repo.corp", "curl --user 'admin:…' https://repo.corp"},
		{"+ docker login -u x -p hunter2 repo.corp", "+ docker login -u x -p … repo.corp"},
		{"mysql -h db -phunter2", "mysql -h db -p…"},
		// Bearer, basic and their like.
		{"Authorization: Bearer abcdef0123", "Authorization: Bearer …"},
		{`curl -H "Authorization: bearer abcdefghij" https://x`, `curl -H "Authorization: bearer …" https://x`},
		{"authorization: Basic dXNlcjpwYXNz", "authorization: Basic …"},
		{"sent Basic dXNlcjpwYXNz to x", "sent Basic … to x"},
		{"Authorization: token abcdefghij", "Authorization: token …"},
		{"Proxy-Authorization: hunter2hunter2", "Proxy-Authorization: …"},
		// URLs with user information.
		{"GET https://user:hunter2@repo.corp/x", "GET https://…@repo.corp/x"},
		{"fatal: https://abcdef@git.corp/x.git", "fatal: https://…@git.corp/x.git"},
		{"HTTPS_PROXY=http://u:p%40x@proxy:3128", "HTTPS_PROXY=http://…@proxy:3128"},
		{"postgres://app:hun@ter2@db:5432/x", "postgres://…@db:5432/x"},
		// What tells by its form what it is.
		{"key AKIAIOSFODNN7EXAMPLE", "key …"}, {"ASIAIOSFODNN7EXAMPLE is expired", "… is expired"},
		{"got " + gitHub, "got …"}, {"github_pat_" + "11ABCDEFG0aBcDeFgHiJkL", "…"}, {"glpat-" + "abcdefghij0123456789", "…"},
		{"slack " + slackBot, "slack …"}, {"post https://hooks.slack.com/services/" + "T00/B00/x0X", "post https://…"},
		{"jwt " + jwt + " is expired", "jwt … is expired"}, {"k8s-aws-v1." + "aHR0cHM6Ly9zdHM", "…"},
		{"sk_live_" + "abcdefgh1234", "…"}, {"sk-ant-" + "api03-abcdefghijklmnop", "…"}, {"AIza" + "SyA0123456789abcdefghijklmnopqrstuv", "…"},
		{"npm_" + "abcdefghijklmnopqrstuvwxyz0123456789", "…"}, {"hvs." + "CAESIabcdefghijklmn", "…"}, {"dckr_pat_" + "abcdefghij0123456", "…"},
		{"IQoJb3JpZ2lu" + "X2VjEH4", "…"}, {"-----BEGIN RSA PRIVATE KEY-----" + "MIIE and more", "-----BEGIN RSA PRIVATE KEY-----…"},
		{"key " + awsSecret + " used", "key … used"},
		{"<password>hunter2</password>", "<password>…</password>"},
	}
	r := New(Ellipsis)
	for _, tt := range tests {
		got := r.Line(tt.line)
		if got != tt.want {
			t.Errorf("redact(%q)\n got %q\nwant %q", tt.line, got, tt.want)
		}
		if again := r.Line(got); again != got {
			t.Errorf("redact twice of %q: %q, then %q", tt.line, got, again)
		}
	}
}

// What an engineer needs stays.
func TestRedactLeavesWhatIsNeeded(t *testing.T) {
	r := New(Ellipsis)
	lines := []string{
		"failed to get token: AccessDenied: User: arn:aws:sts::123456789012:assumed-role/workers/i-0node is not authorized",
		"getting credentials: exec: executable aws-iam-authenticator failed with exit code 1",
		"no basic auth credentials",
		"pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials",
		"Basic authentication failed", "the bearer token is not valid", "failed to refresh token: i/o timeout", "failed to get token: 401 Unauthorized",
		"InvalidClientTokenId: The security token included in the request is invalid",
		"UnrecognizedClientException: The security token included in the request is invalid", "ExpiredToken: The provided token has expired.",
		"SignatureDoesNotMatch: Signature expired: is now earlier", "NoCredentialProviders: no valid providers in chain",
		`Put "http://169.254.169.254/latest/api/token": dial tcp 169.254.169.254:80: i/o timeout`, "PUT http://169.254.169.254/latest/api/token: connection refused",
		"X-aws-ec2-metadata-token-ttl-seconds: 21600", "HttpTokens=required", `{"HttpTokens":"required","HttpPutResponseHopLimit":1}`,
		`FLAG: --authentication-token-webhook="true"`, `FLAG: --authentication-token-webhook-cache-ttl="0s"`, `FLAG: --tls-private-key-file=""`,
		"--tls-private-key-file=/etc/kubernetes/pki/kubelet.key", "tokenFile: /var/run/secrets/eks.amazonaws.com/serviceaccount/token",
		"AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/token", "secret: arn:aws:secretsmanager:us-west-2:123456789012:secret:prod/db-AbCdEf",
		"arn:aws:secretsmanager:us-west-2:123456789012:secret:prod/db-AbCdEf cannot be read", `secretName: regcred`,
		`E1120 14:50:39.699880 1790 token_manager.go:121] "Couldn't update token"`, `{"caller":"aws/credentials.go:88","msg":"getting credentials"}`,
		"docker login --username AWS --password-stdin 602401143452.dkr.ecr.us-west-2.amazonaws.com", "the flag --token is required",
		"public.ecr.aws/x/secrets-store-csi-driver:v1.4.0", "quay.io/x/token:v1", "docker run --user 1000:1000 x", "mkdir -p /etc/eks",
		"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause@sha256:4b6f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f",
		"https://0123456789ABCDEF0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes", "git@github.com:x/y.git", "mail root@ip-10-42-192-10",
		"arn:aws:iam::123456789012:role/workers /var/lib/cloud/instance/scripts/part-001", "token_expired=true passed=3 bypass: no",
		"subnet-0123456789abcdef0 eni-0123456789abcdef0 i-0123456789abcdef0", "kubelet[1790]: dial tcp 10.42.0.5:443: i/o timeout",
		"password: …", "--password …",
	}
	for _, line := range lines {
		if got := r.Line(line); got != line {
			t.Errorf("redact(%q)\n got %q", line, got)
		}
	}
}
