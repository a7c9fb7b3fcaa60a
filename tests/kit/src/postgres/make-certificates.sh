#!/bin/sh
# Makes the certificates of the tests' PostgreSQL servers: an authority, a server's certificate for `localhost` alone that it signed, and a second
# authority that signed nothing. The keys are known to everybody and protect nothing.
set -eu
cd "$(dirname "$0")"
authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=$1" \
		-addext basicConstraints=critical,CA:TRUE -keyout "$2.key" -out "$2.pem"
}
authority "syrch tests" authority
authority "another of the syrch tests" other
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=localhost" -keyout server.key -out server.csr
printf 'subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n' >server.ext
openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 36500 -extfile server.ext -out server.pem
rm -f authority.key authority.srl other.key server.csr server.ext
