/* The plant, and the loop around the controller: a flight of ten seconds, in wind. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hold_sqp.h"

#define DRAG 0.25
#define STAGE_S 0.2
#define FLIGHT_S 10.0
#define SUBSTEPS 100

static void fly(double x[4], const double u[2], const double wind[2]) {
  const double h = STAGE_S / SUBSTEPS;
  for (int k = 0; k < SUBSTEPS; k++) {
    const double air[2] = {wind[0] - x[2], wind[1] - x[3]};
    const double speed = sqrt(air[0] * air[0] + air[1] * air[1]);
    for (int i = 0; i < 2; i++) {
      x[i] += h * x[2 + i];
      x[2 + i] += h * (u[i] + DRAG * speed * air[i]);
    }
  }
}

int main(void) {
  const hold_sqp_target_t target = {{0.0, 0.0}};
  const hold_sqp_wind_t wind = {{4.0, -2.0}};
  hold_sqp_x0_t x = {{-3.0, 2.0, 0.0, 0.0}};
  static hold_sqp_x_in_t x_in;
  static hold_sqp_u_in_t u_in;
  static hold_sqp_lam_x_in_t lam_x_in;
  static hold_sqp_lam_u_in_t lam_u_in;
  static hold_sqp_lam_eq_in_t lam_eq_in;
  static hold_sqp_lam_ineq_in_t lam_ineq_in;
  static hold_sqp_x_out_t x_out;
  static hold_sqp_u_out_t u_out;
  static hold_sqp_lam_x_out_t lam_x_out;
  static hold_sqp_lam_u_out_t lam_u_out;
  static hold_sqp_lam_eq_out_t lam_eq_out;
  static hold_sqp_lam_ineq_out_t lam_ineq_out;
  static hold_sqp_workspace_t workspace;

  for (int k = 0; k < FLIGHT_S / STAGE_S; k++) {
    const int failed =
        hold_sqp_call(&x_in, &u_in, &lam_x_in, &lam_u_in, &lam_eq_in, &lam_ineq_in, &x, &target,
                      &wind, &x_out, &u_out, &lam_x_out, &lam_u_out, &lam_eq_out, &lam_ineq_out,
                      &workspace);
    if (failed) {
      fprintf(stderr, "the controller failed at %.1f s: %d\n", k * STAGE_S, failed);
      return 1;
    }
    fly(x.data, u_out.data, wind.data);
    /* The next plan begins with this one. */
    memcpy(&x_in, &x_out, sizeof x_in);
    memcpy(&u_in, &u_out, sizeof u_in);
    memcpy(&lam_x_in, &lam_x_out, sizeof lam_x_in);
    memcpy(&lam_u_in, &lam_u_out, sizeof lam_u_in);
    memcpy(&lam_eq_in, &lam_eq_out, sizeof lam_eq_in);
  }
  printf("after %.0f s the drone is %.2f m from its target\n", FLIGHT_S,
         hypot(x.data[0] - target.data[0], x.data[1] - target.data[1]));
  return 0;
}
