package cloud

import (
	"net/http"
	"net/http/httputil"
)

// dynamoDB passes requests on to the emulator. The emulator looks at the
// signature's form and not at its value, so requests go as they came.
func (c *Cloud) dynamoDB() http.Handler {
	target := c.cfg.DynamoDB
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = target.Host
			if c.cfg.Meter != nil {
				c.cfg.Meter.ask(r.Out)
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			c.cfg.Log.Error("DynamoDB emulator did not answer", "error", err)
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(http.StatusInternalServerError)
			// Nothing is left to do if the client is gone.
			_, _ = w.Write([]byte(`{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"the DynamoDB emulator did not answer"}`))
		},
	}
	if c.cfg.Meter != nil {
		proxy.ModifyResponse = c.cfg.Meter.take
	}
	return proxy
}
