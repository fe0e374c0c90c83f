// Jersey makes a resource for each request, unless it is told otherwise.
package board;

import javax.ws.rs.GET;
import javax.ws.rs.Path;
import javax.ws.rs.Produces;

@Path("version")
public class VersionResource {
    private int asked;

    @GET
    @Produces("text/plain")
    public String version() {
        asked++; //~ no unprotected-write: asked
        return "1, asked " + asked;
    }
}
