// One resource for all requests.
package board;

import javax.inject.Singleton;
import javax.ws.rs.GET;
import javax.ws.rs.Path;
import javax.ws.rs.Produces;

@Singleton
@Path("state")
public class StateResource {
    private int asked;

    @GET
    @Produces("text/plain")
    public String state() {
        asked++; //~ unprotected-write: asked
        return "asked " + asked;
    }
}
